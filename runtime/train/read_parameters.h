// SPDX-License-Identifier: Apache-2.0
// Named arrays from a file, whichever of our formats it has.
#pragma once

#include <string>
#include <vector>

#include "runtime/formats/array.h"
#include "runtime/formats/updater_states.h"
#include "runtime/train/status.h"

namespace mxc::train {

// Of a .npz or .safetensors by the name, else of MXNet's .params, in the order
// of the file; of the indices of both kinds of several files
// (sharded_parameters.h, pieces.h). A name may have "arg:" or "aux:" before it, as MXNet writes it.
StatusOr<std::vector<runtime::NamedArray>> ReadParameters(
    const std::string& path);

// An optimizer's states (runtime/formats/updater_states.h). Says so where the
// file holds parameters.
StatusOr<runtime::UpdaterStates> ReadStates(const std::string& path);

}  // namespace mxc::train
