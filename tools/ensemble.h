// SPDX-License-Identifier: Apache-2.0
// Several networks as one, whose outputs are the mean of theirs, or how many of
// them vote for each class. The network is joined before it is compiled: one
// plan, in which members share their inputs and their memory.
#pragma once

#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/request.h"

namespace mxc {

struct EnsembleRequest {
  std::string how;                   // "mean", "vote"; empty: there is none
  std::vector<std::string> members;  // beside the request's own network
};

// Makes `request` one of the joined network, with the members' parameters, and
// what the first one knows of classes and pictures. Members are networks with
// the parameters that lie beside them, or artifacts that train.
Status JoinEnsemble(const EnsembleRequest& ensemble, CompileRequest& request);

}  // namespace mxc
