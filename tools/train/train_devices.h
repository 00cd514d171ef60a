// SPDX-License-Identifier: Apache-2.0
// Where `mxc train` will train: "cuda:0", "cuda:0,cuda:1", empty for the CPU.
#pragma once

#include <string>

#include "frontend/frontend.h"
#include "ir/support/result.h"
#include "tools/driver/request.h"

namespace mxc {

// A target that the devices run, unless one was named.
void ChooseTarget(const std::string& devices, CompileRequest& request);

// Each of several devices gets a part of the batch.
Status DealBatch(const std::string& devices, const Model& model,
                 CompileRequest& request);

// Refuses those that are not here, which mxc-run would find after the network
// has been compiled.
Status RequireDevices(const std::string& devices);

}  // namespace mxc
