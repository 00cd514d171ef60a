// SPDX-License-Identifier: Apache-2.0
// The C program, linked with the shared library, as a user would.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/runtime/test_artifact.h"
#include "tests/support/sanitizers.h"

namespace mxc::test {
namespace {

std::string OutputOf(const std::string& command, int* code) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(pipe);
  *code = WEXITSTATUS(status);
  return text;
}

}  // namespace

TEST_CASE("a C99 program runs a model with mxc.h alone") {
  const std::string path = WriteTemporary("c", ChainArtifact().File());
  int code = 0;
  const std::string program = MXC_TEST_C_PROGRAM;
  CHECK(OutputOf(program + " " + path, &code) ==
        "reversed (1, 1024) float32: 22.75\nsum (1) float32: 150400\n"
        "flat (32, 32) float32: 19\n");
  CHECK(code == 0);
  CHECK(OutputOf(program + " /nowhere 2>&1", &code) ==
        "error: cannot open '/nowhere': No such file or directory\n");
  CHECK(code == 1);
}

TEST_CASE("a C99 program trains, saves, loads and scores with mxc.h alone") {
  const std::string path = WriteTemporary("c-train", TrainArtifact().File());
  int code = 0;
  const std::string program = MXC_TEST_C_TRAIN;
  CHECK(OutputOf(program + " " + path + " 30 " + path + ".states", &code) ==
        "loss from 2.14016e+08 to 474800\nscored 384588\n");
  CHECK(code == 0);
  // 1024 floats and the number of steps.
  CHECK(std::filesystem::file_size(path + ".states") == 4096 + 8);
}

TEST_CASE("the shared library is small and exports the C API alone") {
  int code = 0;
  const std::string library = MXC_TEST_SHARED_LIBRARY;
#if !defined(MXC_ADDRESS_SANITIZER) && !defined(MXC_THREAD_SANITIZER)
  // As packages hold it.
  const std::string bare = WriteTemporary("bare.so", "");
  OutputOf("strip -o " + bare + " " + library, &code);
  REQUIRE(code == 0);
  CHECK(std::filesystem::file_size(bare) < size_t{1} << 20);
#endif
  CHECK(OutputOf("nm -D --defined-only " + library + " | grep -v ' T mxc_'",
                 &code) == "");
}

}  // namespace mxc::test
