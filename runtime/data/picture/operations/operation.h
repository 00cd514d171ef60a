// SPDX-License-Identifier: Apache-2.0
// The operations of operations.def: what torchvision's RandAugment does, as PIL
// computes it, but rounded to nearest and bilinear between pixels.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/data/picture/picture.h"

namespace mxc::data {

// `strength` is the share of the largest magnitude, negative for the other way;
// `fill` is the value of what comes into view.
#define MXC_PICTURE_OPERATION(name, sign) \
  void Apply##name(double strength, uint8_t fill, Picture* picture);
#include "runtime/data/picture/operations.def"
#undef MXC_PICTURE_OPERATION

// Several operations go this far at most.
constexpr double kMostShear = 0.3, kMostBlend = 0.9;
constexpr double kMostTranslation = 150.0 / 331;  // of the side

// Replaces every value of a channel by what a table of that channel has for it.
// `make_table` is given how often each value occurs.
using ValueCounts = std::array<int64_t, 256>;
using ValueTable = std::array<uint8_t, 256>;
void Replace(ValueTable (*make_table)(const ValueCounts&), Picture* picture);

}  // namespace mxc::data
