// SPDX-License-Identifier: Apache-2.0
// stdin, stdout and stderr of a program. For its main.
#pragma once

namespace mxc::runtime {

// First of all: a stream that was closed before the program began stays closed,
// but no file that is opened later gets its number, and what is printed with
// it.
void ReserveStandardStreams();

// In a process that stays behind its parent: stdin is empty, what is printed is
// lost, and no terminal or pipe of the parent's is held open.
void LeaveStandardStreams();

// Last of all, when everything has been printed: flushes stdout and returns
// `exit_code`. Where something did not get to where stdout goes, as on a full
// disk, says so on stderr and returns 1 for a 0. A pipe that nobody reads ends
// the process by SIGPIPE, as it does others.
int FinishStandardOutput(int exit_code);

}  // namespace mxc::runtime
