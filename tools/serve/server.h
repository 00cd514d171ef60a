// SPDX-License-Identifier: Apache-2.0
// An artifact over HTTP.
//
//   GET  /         what it takes and gives, as JSON
//   GET  /health   "ok", while it serves
//   POST /predict  the body is a .npy, a JPEG or a PNG, the answer JSON: all
//                  outputs, with ?top=N the N best classes of the first one
//
// What is wrong with a request is {"errors": [{"message": …}], "count": 1}: 400
// where the sender is to mend it, 404 and 413 as HTTP has it, 500 where it is
// this side's.
#pragma once

#include "tools/run/serve_options.h"
#include "tools/serve/predictor.h"

namespace mxc::serve {

// Serves until SIGINT or SIGTERM asks it to stop: no connection is accepted any
// more, and what has begun is answered. For a main that has no other thread
// yet. Throws a run::Failure where it cannot listen.
void Serve(Predictor& predictor, const run::ServeOptions& options);

}  // namespace mxc::serve
