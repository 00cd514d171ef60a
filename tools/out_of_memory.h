// SPDX-License-Identifier: Apache-2.0
// Ends the process with a sentence when memory runs out.
#pragma once

namespace mxc {

// From now on a process that runs out of memory, in whichever thread and
// library, says so in one sentence and ends with kFailure at once. Nothing is
// unwound: what a library was building when it got no memory cannot be trusted.
// With `json` the sentence is a report on stdout, as that of other errors.
void EndWhenOutOfMemory(bool json);

}  // namespace mxc
