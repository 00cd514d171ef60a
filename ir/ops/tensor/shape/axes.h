// SPDX-License-Identifier: Apache-2.0
// Axes and extents that attributes name, as type functions check them.
#pragma once

#include <optional>
#include <string_view>

#include "ir/ops/op.h"

namespace mxc {

// The axis counted from the front; nullopt unless -rank ≤ axis < rank.
std::optional<int> ResolveAxis(int64_t axis, int rank);

// The same; reports the violated constraint, "C1: axis 4 is out of range …".
std::optional<int> RequireAxis(TypeInference& t, std::string_view label,
                               std::string_view name, int64_t axis, int rank);

// All of `axes`, ascending; nullopt and a report when one is out of range or
// named twice.
std::optional<Extents> RequireAxes(TypeInference& t, std::string_view label,
                                   const Extents& axes, int rank);

// a · b for extents, unknown if either is; reports a product above 2^62.
std::optional<int64_t> RequireProduct(TypeInference& t, int64_t a, int64_t b);

// 0, 1, …, count - 1.
Extents AllAxes(int count);

// `name`0, `name`1, …: the inputs of an operator with num_args.
std::vector<InputSpec> NumberedInputs(std::string_view name, int64_t count);
// "output" for one output, else output0, output1, ….
std::vector<std::string> NumberedOutputs(int64_t count);
// The largest count of inputs or outputs that an attribute may ask for.
inline constexpr int64_t kMaxOperands = 65536;

}  // namespace mxc
