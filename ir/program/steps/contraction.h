// SPDX-License-Identifier: Apache-2.0
// The step kind Contraction: products of two operands, summed, with an
// epilogue; convolutions and matrix products, forward and backward.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/kernel_choice.h"
#include "ir/program/step_values.h"

namespace mxc {

// The role that an axis of an operand plays in a contraction.
enum class Role : uint8_t {
  kBatch,       // n
  kGroup,       // g
  kIn,          // k, within a group
  kOut,         // m, within a group
  kGroupIn,     // g · K + k
  kGroupOut,    // g · M + m
  kGroupBatch,  // g · N + n
  kSpatial0,
  kSpatial1,
  kSpatial2,  // data: input position; weight: kernel
              // position; output: output position
};

// The element types of a contraction's operands, of its sums and of its result.
struct ContractionTypes {
  DType data = DType::kF32, weight = DType::kF32, sum = DType::kF32,
        output = DType::kF32;

  static ContractionTypes All(DType dtype) {
    return {dtype, dtype, dtype, dtype};
  }
  friend bool operator==(const ContractionTypes&,
                         const ContractionTypes&) = default;
};

// A convolution or a matrix product:
//   out[n, g, m, o…] = Σ_{k, w…} data[n, g, k, i…] · weight[g, m, k, w…]
//   i = (o·stride + w·dilate − pad) / data_dilate
// where data is zero outside its extent and between its elements, that is where
// the division leaves a rest. With `flip`, i counts kernel positions from the
// end: kernel − 1 − w in place of w. Output extents are given, not derived. A
// matrix product has no spatial axes: its rows are the batch. Operand 0 of the
// step is data, 1 weight; the others are read by the epilogue.
//
// The gradients of a convolution are contractions, too:
//   data's    of its output by the weight with exchanged channels (axes
//             kGroupIn, kOut, …): flipped, data_dilate = the forward stride,
//             pad = dilate·(kernel − 1) − the forward pad, which may be
//             negative;
//   weight's  of data (axes kIn, kGroupBatch, …: the batch is summed, and input
//             channels take its place) by the output's gradient (axes kIn,
//             kGroupOut, …): stride and dilate exchanged, the kernel is the
//             output's extent and the output the kernel's.
//
// Products are formed and added in `types.sum`, to which elements of data and
// weight are widened; the epilogue makes an output's element of each sum.
struct Contraction {
  int64_t batch = 1, groups = 1, in = 1, out = 1;  // N, G, K, M
  Extents input, output, kernel;                   // spatial, 0 to 3 axes
  Extents stride, dilate, pad;  // pad: before; after is implied
  Extents data_dilate;
  bool flip = false;
  std::vector<Role> data_axes, weight_axes, output_axes;
  ContractionTypes types;
  // Above 0: a matrix product whose weight is u8[out, …], blocks of so many
  // inputs of 4 bits (int4_blocks.h).
  int64_t int4_group = 0;

  // 2 · multiply-adds; none with the zeros between data's elements.
  int64_t flops() const;
};

// The type in which a contraction of such operands is summed: f32 for f16 and
// bf16; integers' of at least 32 bits and no fewer than the output has, so that
// what is kept of a sum is exact.
DType SumTypeOf(DType data, DType weight, DType output);

// With `in` (an axis of both operands, of one group) in equal parts, which
// become a leading axis of the output, which holds the sums of the parts.
Contraction InParts(const Contraction& c, int64_t parts);

// The extents of what a contraction yields, by its output axes.
Extents OutputDims(const Contraction& c);

// out[i] = epilogue, where Acc is the contraction's sum for i and Loads read
// the step's inputs at or around i.
struct ContractionStep {
  Contraction contraction;
  Expr epilogue;
  KernelChoice choice;
  // If not empty, out is the maxima of the epilogue's values over windows of so
  // many positions along each spatial axis. The windows lie side by side from
  // the first position on; positions that fill none are left out.
  Extents maxima = {};

  static constexpr bool kPure = true;
  static constexpr Layouts kLayouts = Layouts::kAny;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
  void VisitExprs(const std::function<void(Expr&)>& f) { f(epilogue); }
  int FixedOperands(const Step&) const { return 2; }  // data and weight
};

}  // namespace mxc
