// SPDX-License-Identifier: Apache-2.0
// Contractions whose kernels are measured.
#pragma once

#include <cstdint>

#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

// 3 x 3 over a square picture, which keeps its size, row-major.
inline Contraction SquareConvolution(int64_t in, int64_t out, int64_t size) {
  Contraction c;
  c.in = in;
  c.out = out;
  c.input = c.output = {size, size};
  c.kernel = {3, 3};
  c.stride = c.dilate = c.data_dilate = c.pad = {1, 1};
  c.data_axes = {Role::kBatch, Role::kGroupIn, Role::kSpatial0,
                 Role::kSpatial1};
  c.weight_axes = {Role::kGroupOut, Role::kIn, Role::kSpatial0,
                   Role::kSpatial1};
  c.output_axes = {Role::kBatch, Role::kGroupOut, Role::kSpatial0,
                   Role::kSpatial1};
  return c;
}

// The gradient of its weight: sums over images and positions.
inline Contraction WeightGradient(int64_t batch, int64_t channels,
                                  int64_t size) {
  Contraction c = SquareConvolution(channels, channels, size);
  c.batch = channels;
  c.in = batch;
  c.kernel = {size, size};
  c.output = {3, 3};
  c.data_axes = {Role::kIn, Role::kGroupBatch, Role::kSpatial0,
                 Role::kSpatial1};
  c.weight_axes = {Role::kIn, Role::kGroupOut, Role::kSpatial0,
                   Role::kSpatial1};
  c.output_axes = {Role::kGroupOut, Role::kBatch, Role::kSpatial0,
                   Role::kSpatial1};
  return c;
}

}  // namespace mxc
