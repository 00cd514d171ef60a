// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace mxc {

// A job that trained by MXNet's Module: NAME-RANK.npz holds a worker's data,
// the first parameters (init_NAME), the loss of each step (loss_STEP) and the
// parameters after some of them (NAME_STEP). What is wrong, or nothing.
std::string CheckModuleJob(const nlohmann::json& line,
                           const std::string& folder,
                           const std::string& artifact);

}  // namespace mxc
