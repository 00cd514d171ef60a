// SPDX-License-Identifier: Apache-2.0
// The tables behind the key "weights" of our own JSON, as they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/json/json.h"
#include "ir/support/diagnostic.h"

namespace mxc {

// How one parameter, or many of one pattern, are made.
struct WeightRow {
  std::string pattern;  // a parameter's name: ${i} is a number, * the rest
  // Joined along the first axis; of each the names that it may have.
  std::vector<std::vector<std::string>> from;
  bool transpose = false;                           // each of them
  std::optional<std::pair<int64_t, int64_t>> rows;  // of what they make
  SourceLoc loc;
};

using WeightTable = std::vector<WeightRow>;

// What is wrong with them goes to `errors`.
std::vector<WeightTable> ReadWeightTables(const JsonDocument& document,
                                          const JsonValue& weights,
                                          Diagnostics& errors);

}  // namespace mxc
