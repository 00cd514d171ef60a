// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace mxc {

// A value of JSON as MXNet writes attributes: True, None, 0.5,0.25.
std::string AttributeText(const nlohmann::json& value);

}  // namespace mxc
