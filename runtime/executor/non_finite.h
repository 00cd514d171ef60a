// SPDX-License-Identifier: Apache-2.0
// Where the first NaN or infinity of a run comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/executor/executor.h"

namespace mxc::runtime {

struct NonFiniteElement {
  size_t index = 0;
  double value = 0;  // NaN or an infinity
};

// The first of an array of elements of that type (abi.h); nothing in integers.
std::optional<NonFiniteElement> FirstNonFinite(uint8_t dtype, Bytes values);

struct NonFinite {
  std::optional<size_t> step;  // that wrote it; none: an input or a state
  uint32_t buffer = 0;         // of the entry
  double value = 0;
};

// Runs the entry once more on the inputs that it has, on the calling thread,
// and looks at every tensor: first at inputs and states, then at what each step
// wrote. The states are afterwards what they were. Nothing: all is finite.
StatusOr<std::optional<NonFinite>> FindNonFinite(Executor& executor);

}  // namespace mxc::runtime
