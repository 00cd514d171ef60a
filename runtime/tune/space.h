// SPDX-License-Identifier: Apache-2.0
// What is searched: settings by name, each with the values that it may have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tune/status.h"

namespace mxc::tune {

// One setting. Positions in [0, 1) stand for its values, so that a sampler need
// not know of which kind it is.
struct Dimension {
  enum class Kind { kLog, kUniform, kInt, kChoice };

  std::string name;  // "lr"
  Kind kind = Kind::kUniform;
  double low = 0, high = 0;          // both may be drawn; not of a choice
  std::vector<std::string> choices;  // of a choice alone

  // The value at a position, as text: numbers with six digits that count, whole
  // numbers and words as they are.
  std::string At(double position) const;
  // "lr=log(0.0001,1)"
  std::string ToString() const;
};

using Space = std::vector<Dimension>;

// "lr=log(1e-4,1)", "momentum=uniform(0.5,0.99)", "batch-size=int(16,128)",
// "optimizer=choice(sgd,adam)".
StatusOr<Dimension> ParseDimension(std::string_view text);
// All of them, or all that is wrong; a name may be there once.
StatusOr<Space> ParseSpace(const std::vector<std::string>& texts);

}  // namespace mxc::tune
