// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace mxc::runtime {
namespace {

// Some file systems say only when it is closed that there was no room.
bool CloseCopyOfStdout() {
  const int copy = dup(STDOUT_FILENO);
  return copy >= 0 && close(copy) == 0;
}

}  // namespace

void ReserveStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number. Reading stdin fails, and so does writing the
    // others.
    (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void LeaveStandardStreams() {
  const int nothing = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(nothing, stream);
  }
}

int FinishStandardOutput(int exit_code) {
  const bool failed = std::ferror(stdout) != 0;
  bool sound = std::fflush(stdout) == 0 && CloseCopyOfStdout();
  if (sound && !failed) return exit_code;
  // What failed before has left no cause: one more byte of a report that is not
  // whole finds it again.
  sound = sound && write(STDOUT_FILENO, "\n", 1) == 1;
  std::fprintf(stderr, "error: cannot write to stdout%s%s\n", sound ? "" : ": ",
               sound ? "" : std::strerror(errno));
  return exit_code != 0 ? exit_code : 1;
}

}  // namespace mxc::runtime
