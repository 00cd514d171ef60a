// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "tools/command.h"
#include "tools/terminal.h"

namespace mxc {

int HandOverToRun(char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program =
      error ? "mxc-run" : (self.parent_path() / "mxc-run").string();
  std::fflush(stdout);  // what is not in it yet goes with this program
  execvp(program.c_str(), argv);
  PrintErr("mxc {}: cannot start {}: {}\n", argv[1], program,
           std::strerror(errno));
  return kFailure;
}

}  // namespace mxc
