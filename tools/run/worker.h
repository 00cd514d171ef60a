// SPDX-License-Identifier: Apache-2.0
// bench --worker: a benchmark's worker process, which measures on request.
//
//   at the start   ready {"load_s": …, "first_s": …, "version": …}
//   run N          N numbers: nanoseconds of N runs in a row
//   output PATH    writes the latest first output, or the loss of each of the
//                  first training steps, as raw float32; answers ok
//
// One line each; between requests the process is idle; the end of stdin ends
// it.
#pragma once

#include "tools/run/session.h"

namespace mxc::run {

// The executor's inputs are filled.
void Serve(const Session& session, api::Executor& executor);

}  // namespace mxc::run
