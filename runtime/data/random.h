// SPDX-License-Identifier: Apache-2.0
// Random numbers by counter: a pure function of a key and how many were drawn,
// so nothing has to be kept between samples and no thread disturbs another.
#pragma once

#include <cstdint>

namespace mxc::data {

// A bijection of 64 bits whose results look random (Stafford's variant 13 of
// MurmurHash3's finalizer, as in SplitMix64).
constexpr uint64_t Mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// One key out of two.
constexpr uint64_t Key(uint64_t a, uint64_t b) {
  return Mix(Mix(a + 0x9e3779b97f4a7c15u) ^ b) + 0x632be59bd9b4e019u;
}

class Draws {
 public:
  explicit Draws(uint64_t key) : next_(key) {}

  uint64_t Bits() { return Mix(next_ += 0x9e3779b97f4a7c15u); }
  // [0, 1)
  double Unit() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }
  double Between(double low, double high) {
    return low + (high - low) * Unit();
  }
  bool Flip() { return Bits() >> 63 != 0; }
  // [0, count), every value equally likely; count > 0.
  uint64_t Below(uint64_t count) {
    const uint64_t skewed = (0 - count) % count;  // 2^64 mod count
    uint64_t bits = Bits();
    while (bits < skewed) bits = Bits();
    return bits % count;
  }

 private:
  uint64_t next_;
};

}  // namespace mxc::data
