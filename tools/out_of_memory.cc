// SPDX-License-Identifier: Apache-2.0
#include "tools/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "tools/command.h"

namespace mxc {
namespace {

[[noreturn]] void SayAndEnd() {
  constexpr std::string_view kText =
      "error: out of memory: the network or its weights are too large for this "
      "machine, or for the limits it runs under\n1 error\n";
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, kText.data(), kText.size());
  _Exit(kFailure);
}

}  // namespace

void EndWhenOutOfMemory() { std::set_new_handler(SayAndEnd); }

}  // namespace mxc
