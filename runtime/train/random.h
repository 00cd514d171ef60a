// SPDX-License-Identifier: Apache-2.0
// Random numbers that depend on a seed, a name and an index, and on nothing
// else: in any order, on any machine, the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mxc::train {

// Philox 4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3,
// SC 2011), keyed by the seed, with the name in the counter.
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view name);

  // Four numbers for each counter.
  std::array<uint32_t, 4> At(uint64_t counter) const;

  // U[−scale, scale), number i from the counter i / 4.
  void FillUniform(double scale, std::span<float> values) const;
  // N(0, deviation) by Box and Muller's method.
  void FillNormal(double deviation, std::span<float> values) const;

 private:
  std::array<uint32_t, 2> key_;
  uint64_t name_;
};

}  // namespace mxc::train
