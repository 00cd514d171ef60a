// SPDX-License-Identifier: Apache-2.0
// The compiler of programs of arrays: one operator, with its attributes, for
// operands of known types.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/operator.h"
#include "ir/support/result.h"
#include "runtime/ndarray/operator_call.h"

namespace mxc {

// All that is wrong, as one.
std::string SentenceOf(const Diagnostics& errors);

// The operator by any of its names, with attributes as MXNet's text; all that is
// wrong with them at once.
Result<std::shared_ptr<runtime::CallableOperator>> FindCallable(
    std::string_view name, const std::vector<AttrText>& attrs);

}  // namespace mxc
