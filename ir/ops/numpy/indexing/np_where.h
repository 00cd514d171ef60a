// SPDX-License-Identifier: Apache-2.0
// numpy.where: condition, x and y broadcast; x and y may be numbers.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// Of all inputs, those after the condition of the output's type.
void NpWhereTypes(TypeInference& t);
// x and y at the output's index by `number`, where they are no inputs.
void NpWhereMeaning(Definition& def, std::optional<double> x,
                    std::optional<double> y);

}  // namespace mxc
