// SPDX-License-Identifier: Apache-2.0
// Draws digits as a hand might: strokes through jittered points, slanted,
// stretched, shifted, with a pen of some width, on paper with some dirt.
#pragma once

#include <array>
#include <cstdint>

namespace mxc::data {

constexpr int kDigitSide = 28;
using DigitPicture = std::array<uint8_t, kDigitSide * kDigitSide>;

// The digit (0 … 9) whose picture `random` is a key for. The same key gives the
// same bytes on every machine: only correctly rounded arithmetic is used.
DigitPicture DrawDigit(int digit, uint64_t random);

}  // namespace mxc::data
