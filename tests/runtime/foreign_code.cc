// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/foreign_code.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

// By a system call, for there is no library: creat(MARK, 0644).
constexpr const char* kLeaveMark = R"(
static void LeaveMark(void) {
  long result;
  __asm__ volatile("syscall" : "=a"(result)
                   : "a"(85L), "D"(MARK), "S"(0644L)
                   : "rcx", "r11", "memory");
}
)";

}  // namespace

std::string MarkPath() {
  return std::filesystem::temp_directory_path() /
         ("mxc-mark-" + std::to_string(getpid()));
}

std::string BuildKernels(const std::string& source,
                         const std::string& options) {
  const std::string header = WriteTemporary("mark.h", kLeaveMark);
  const std::string more = WriteTemporary("more.c", source);
  const std::string object = WriteTemporary("more.so", "");
  const std::string command =
      MXC_TEST_FREESTANDING_CC
      " -w -O1 -shared -fPIC -nostdlib -Wl,--build-id=none -I" MXC_SOURCE_DIR
      " -include " +
      header + " '-DMARK=\"" + MarkPath() +
      "\"' " MXC_SOURCE_DIR "/tests/runtime/kernels.c " + more + " " + options +
      " -o " + object;
  if (std::system(command.c_str()) != 0) std::abort();
  return object;
}

}  // namespace mxc::test
