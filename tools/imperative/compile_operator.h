// SPDX-License-Identifier: Apache-2.0
// The compiler of programs of arrays: one operator, with its attributes, for
// operands of known types.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/operator.h"
#include "ir/support/result.h"
#include "runtime/ndarray/operator_call.h"

namespace mxc {

// What an instance of these attributes takes and gives, as mxc_ndarray_op_signature
// says it. `inputs`: how many are given, where it takes any number.
Result<nlohmann::ordered_json> SignatureOf(std::string_view name,
                                           const std::vector<AttrText>& attrs,
                                           size_t inputs);

// The operator by any of its names, with attributes as MXNet's text; all that is
// wrong with them at once.
Result<std::shared_ptr<runtime::CallableOperator>> FindCallable(
    std::string_view name, const std::vector<AttrText>& attrs);

}  // namespace mxc
