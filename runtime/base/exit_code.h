// SPDX-License-Identifier: Apache-2.0
// Converts a wait status to a shell's exit code: 128 + signal for a process
// that was killed.
#pragma once

#include <sys/wait.h>

namespace mxc::runtime {

// What waitpid tells of a process that has ended, as a shell tells it.
inline int ExitCodeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace mxc::runtime
