// SPDX-License-Identifier: Apache-2.0
// Archives of arrays, as folders of cases hold them.
#pragma once

#include <map>
#include <string>

#include "ir/graph/tensor.h"
#include "ir/support/result.h"

namespace mxc {

using Archive = std::map<std::string, std::string>;  // bytes by path
using NamedTensors = std::map<std::string, Tensor>;

// The arrays of a .params file.
Result<NamedTensors> ReadTensors(const std::string& bytes);

}  // namespace mxc
