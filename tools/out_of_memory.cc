// SPDX-License-Identifier: Apache-2.0
#include "tools/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <new>
#include <string_view>

#include "runtime/base/unfinished_name.h"
#include "tools/command.h"

namespace mxc {
namespace {

constexpr std::string_view kSentence =
    "out of memory: the network or its weights are too large for this "
    "machine, or for the limits it runs under";

// Takes no memory.
[[noreturn]] void End(int stream,
                      std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (write(stream, part.data(), part.size()) < 0) break;
  }
  runtime::RemoveUnfinished();
  _Exit(kFailure);
}

[[noreturn]] void SayAndEnd() {
  End(STDERR_FILENO, {"error: ", kSentence, "\n1 error\n"});
}

// As Fail prints it.
[[noreturn]] void ReportAndEnd() {
  constexpr std::string_view kBefore = R"({
  "errors": [
    {
      "file": "",
      "line": 0,
      "column": 0,
      "path": "",
      "message": ")";
  constexpr std::string_view kAfter = R"(",
      "notes": []
    }
  ],
  "count": 1
}
)";
  End(STDOUT_FILENO, {kBefore, kSentence, kAfter});
}

}  // namespace

void EndWhenOutOfMemory(bool json) {
  std::set_new_handler(json ? ReportAndEnd : SayAndEnd);
}

}  // namespace mxc
