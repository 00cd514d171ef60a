// SPDX-License-Identifier: Apache-2.0
// In what products keep the constants that they multiply with.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace mxc {

enum class WeightKind : uint8_t { kF32, kBF16, kInt8, kInt4 };

struct WeightStorage {
  WeightKind kind = WeightKind::kF32;
  // Of int4: so many neighbouring inputs of an output share a scale.
  int64_t group = 32;
  // Parameters that stay as they are, as wildcards.
  std::set<std::string> kept;
};

}  // namespace mxc
