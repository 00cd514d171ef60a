// SPDX-License-Identifier: Apache-2.0
// Taps: which kernel positions meet which elements of data, along one spatial
// axis. Where data have zeros between their elements (the gradient of a strided
// convolution), outputs fall into phases, each of which meets a subset of the
// kernel's positions: a plain convolution of its own, without products by zero.
//
//   stride 2, kernel 3:   even outputs  ←  positions 0, 2
//                         odd outputs   ←  position 1
//
// So do the rows of a small output, where much of a large kernel lies beside
// the data: the first row meets the kernel's last row only, and so on.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program/program.h"

namespace mxc::contraction {

// Output first_output + j · output_step meets, at tap t < count, element
// first_data + j · data_per_output + t · data_per_tap of data with kernel
// position first_weight + t · weight_step.
struct Taps {
  int64_t first_output = 0, output_step = 1, outputs = 1;
  int64_t first_data = 0, data_per_output = 1, data_per_tap = 1;
  int64_t first_weight = 0, weight_step = 1, count = 1;
};

// Returns whether PhasesOf can express the contraction: outputs of spread data
// advance one by one.
bool HasPhases(const Contraction& c);

// The phases of one spatial axis; together they cover its outputs.
std::vector<Taps> PhasesOf(const Contraction& c, size_t axis);

// All combinations of the spatial axes' phases, those with most taps first.
std::vector<std::vector<Taps>> PhasesOf(const Contraction& c);

// Elements beside data that outputs meet, before and after, on one axis.
int64_t HaloLow(const Contraction& c, size_t axis);
int64_t HaloHigh(const Contraction& c, size_t axis);

}  // namespace mxc::contraction
