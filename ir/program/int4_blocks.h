// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits. What an output is multiplied with is a row of blocks, one
// for each `group` of neighbouring inputs:
//
//   byte 0              the level of the group's scale, plus 128
//   byte 1 + j          inputs 2j (lower four bits) and 2j + 1 of the group
//
// An input is (its bits − 8) · level of the group, times a scale that the output
// has. At group 32 that is 4.25 bits for a weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/program/evaluator.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

inline constexpr int kInt4Zero = 8, kInt4LevelZero = 128;

constexpr int64_t Int4BlockBytes(int64_t group) { return 1 + group / 2; }
// Of so many inputs, a multiple of the group.
constexpr int64_t Int4RowBytes(int64_t inputs, int64_t group) {
  return inputs / group * Int4BlockBytes(group);
}

// Elements of a contraction's weight along its axis kIn: bytes, of 4 bits each.
inline int64_t WeightRows(const Contraction& c) {
  return c.int4_group > 0 ? Int4RowBytes(c.in, c.int4_group) : c.in;
}

// The scale of an output with these inputs.
float Int4Scale(std::span<const float> inputs);
// Its blocks, behind one another, into Int4RowBytes. Each group's level and bits
// are those of least squared error among a few.
void PackInt4(std::span<const float> inputs, int64_t group, float scale,
              std::byte* blocks);

// Weights [outputs, inputs] of bytes [outputs, Int4RowBytes].
std::vector<Element> Int4Levels(const Contraction& c,
                                std::span<const Element> bytes);

// Input b · group + 2j + h of a row of bytes, as `load` reads them.
Expr Int4Level(const std::function<Expr(const Expr& byte)>& load, const Expr& b,
               const Expr& j, const Expr& h, int64_t group, DType dtype);

}  // namespace mxc
