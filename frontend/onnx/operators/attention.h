// SPDX-License-Identifier: Apache-2.0
// Softmax(Q Kᵀ) V, which ONNX's and com.microsoft's operators share.
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// Which keys a query sees. Both broadcast to [batch, heads, queries, keys].
struct AttentionMask {
  Value allowed = {};  // bool; empty: all
  Value bias = {};     // added to the scores, of their type; -inf: not seen
  // Whether a query may see nothing: its row of the result is 0.
  bool empty_rows = false;

  void Allow(Call& c, Value more);
  void AddBias(Call& c, Value more);
};

struct AttentionTerms {
  Value q;     // [batch, heads, queries, size]
  Value k, v;  // [batch, key heads, keys, size], of which heads is a multiple
  double scale = 1;
  double softcap = 0;  // 0: none
  std::optional<DType> softmax = {};
};

struct AttentionResult {
  Value raw, capped, masked, probabilities;  // [batch, heads, queries, keys]
  Value y;  // [batch, heads, queries, value size]
};

// In float32 where the operands are narrower; so are the results.
AttentionResult Attend(Call& c, const AttentionTerms& terms,
                       const AttentionMask& mask);

// [batch, length, heads · size] → [batch, heads, length, size], and back.
Value SplitHeads(Call& c, Value x, int64_t heads);
Value JoinHeads(Call& c, Value x);
// first, first + 1, …, `count` of them, under a shape.
Value Positions(Call& c, int64_t first, int64_t count, const Shape& shape);
// An integer input whose elements are one for each entry of a batch.
Value PerBatch(Call& c, int i, int64_t batch);

struct Rotation {
  Value cos, sin;  // [batch or 1, length, size / 2]
  bool interleaved = false;
};
// x [batch, heads, length, size], whose first elements are turned.
Value Rotated(Call& c, Value x, const Rotation& rotation);

}  // namespace mxc::onnx
