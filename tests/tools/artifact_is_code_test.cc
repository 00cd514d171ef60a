// SPDX-License-Identifier: Apache-2.0
// An artifact is a program; what looks at it runs nothing of it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/runtime/foreign_code.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

// Every way to look at an artifact, and what would take it for a network.
constexpr const char* kLooks[] = {
    "inspect {}",
    "inspect {} --json",
    "inspect {} --memory",
    "inspect {} --steps",
    "inspect {} --ops",
    "inspect {} --manifest",
    "inspect {} --check",
    "inspect {} --check --json",
    "inspect {} --html {}.html",
    "dot {}",
    "convert {} -o {}-symbol.json",
    "compile {} -o {}.again --init one",
};

// The exit status.
int Mxc(const char* command, const std::string& artifact) {
  const std::string line =
      std::string(MXC_BIN) + " " +
      fmt::format(fmt::runtime(command), artifact, artifact);
  return std::system((line + " >/dev/null 2>&1").c_str());
}

std::string FileWithKernels(const std::string& name, const std::string& path) {
  TestArtifact artifact = ChainArtifact();
  artifact.kernels = path;
  artifact.symbol =
      R"({"mxc": 1, "inputs": {"data": [1, 4]},
          "nodes": [{"op": "FullyConnected", "num_hidden": 3}]})";
  return WriteTemporary(name, artifact.File());
}

}  // namespace

TEST_CASE("looking at an artifact runs nothing of it") {
  std::filesystem::remove(MarkPath());
  const std::string constructed = FileWithKernels(
      "constructed.mxa",
      BuildKernels("__attribute__((constructor)) static void Begin(void) "
                   "{ LeaveMark(); }",
                   ""));
  const std::string marking = FileWithKernels(
      "marking.mxa", BuildKernels("", "-DMXC_TEST_LEAVE_MARK=LeaveMark"));
  for (const std::string& artifact : {constructed, marking}) {
    for (const char* look : kLooks) {
      CAPTURE(artifact);
      CAPTURE(look);
      Mxc(look, artifact);
      CHECK_FALSE(std::filesystem::exists(MarkPath()));
    }
    CHECK(Mxc("inspect {}", artifact) == 0);
  }
  // Not even by those who would run it, where loading alone runs something.
  CHECK(Mxc("run {}", constructed) != 0);
  CHECK_FALSE(std::filesystem::exists(MarkPath()));
  // The kernels do leave marks where they run.
  Mxc("bench {} --iterations 1 --warmup 0", marking);
  CHECK(std::filesystem::exists(MarkPath()));
  std::filesystem::remove(MarkPath());
}

}  // namespace mxc::test
