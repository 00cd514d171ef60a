// SPDX-License-Identifier: Apache-2.0
// com.microsoft: attention of exported transformers. A mask of integers adds
// mask_filter_value (-10000) to the scores of what it hides.
// Source: ONNX Runtime 1.32, docs/ContribOperators.md, and what it computes.
#include <algorithm>
#include <cmath>

#include "frontend/onnx/operators/attention.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::onnx {
namespace {

// 0 where `seen` is true, else the value that hides.
Value HidingBias(Call& c, Value seen, double hides, DType wide) {
  const Value zero =
      c.Constant(Tensor::Filled({wide, Shape(Extents())}, 0), "seen");
  return c.Op<op::NpiWhere>({seen, zero, c.ScalarLike(hides, zero)});
}

// A mask of integers: how many keys count, which keys, or which keys for each
// query.
void AddIntegerMask(Call& c, AttentionMask& mask, int i, int64_t batch,
                    int64_t queries, int64_t keys, DType wide) {
  const double hides = c.Float("mask_filter_value", -10000);
  if (!c.Has(i)) return;
  const Value given = c.In(i);
  const Shape& s = given.shape();
  c.Require(given.type().dtype == DType::kI32, "its mask is {}",
            ToString(given.type()));
  const Value columns = Positions(c, 0, keys, Shape{keys});
  const auto at = [&](int64_t first) {
    const Value part =
        s[0] == batch ? given : c.SliceAxis(given, 0, first, first + batch);
    return c.Reshape(c.Cast(part, DType::kI64), Shape{batch, 1, 1, 1});
  };
  Value seen;
  if (s.rank() == 1 && (s[0] == batch || s[0] == 2 * batch)) {
    seen = c.Op<op::NpiLess>({columns, at(0)});
    if (s[0] == 2 * batch) {
      seen = c.Op<op::BroadcastLogicalAnd>(
          {seen, c.Op<op::NpiGreaterEqual>({columns, at(batch)})});
    }
  } else if (s.rank() == 2 || s.rank() == 3) {
    const Value shown = c.Op<op::NpiGreaterScalar>({given}, {.scalar = 0});
    c.Require(s[s.rank() - 1] == keys && s[0] == batch &&
                  (s.rank() == 2 || s[1] == queries),
              "its mask has the shape {}, of {} batches, {} queries and {} "
              "keys",
              ToString(s), batch, queries, keys);
    seen = c.Reshape(shown, Shape{batch, 1, s.rank() == 2 ? 1 : s[1], keys});
  } else {
    c.Refuse("its mask has the shape {}, of {} batches", ToString(s), batch);
  }
  mask.AddBias(c, HidingBias(c, seen, hides, wide));
}

// Queries see no keys behind their own place.
void AllowPast(Call& c, AttentionMask& mask, int64_t queries, int64_t keys,
               int64_t past) {
  mask.Allow(c, c.Op<op::NpiLessEqual>(
                    {Positions(c, 0, keys, Shape{keys}),
                     Positions(c, past, queries, Shape{queries, 1})}));
}

double ScaleAttribute(Call& c, int64_t size) {
  const double given = c.Float("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(size));
}

Value Appended(Call& c, Value past, Value now, int axis) {
  return past ? c.Concat({past, now}, axis) : now;
}

// An entry of axis 0, which goes.
Value Entry(Call& c, Value x, int64_t i) {
  Extents dims = x.shape().dims();
  dims.erase(dims.begin());
  return c.Reshape(c.SliceAxis(x, 0, i, i + 1), dims);
}

}  // namespace

void ImportContribAttention(Call& c) {
  const int64_t heads = c.Int("num_heads");
  const bool causal = c.Flag("unidirectional");
  c.Require(!c.Flag("do_rotary") && !c.Flag("past_present_share_buffer"),
            "do_rotary and past_present_share_buffer are not supported");
  c.Ignore("rotary_embedding_dim");
  c.Ignore("past_sequence_length");
  c.Require(!c.Has(6), "past_sequence_length is not supported");
  const Value x = c.In(0), weight = c.In(1);
  const Shape s = x.shape();
  c.Require(
      s.rank() == 3 && weight.shape().rank() == 2 && weight.shape()[0] == s[2],
      "its data have the shape {}, its weights {}", ToString(s),
      ToString(weight.shape()));
  const int64_t width = weight.shape()[1];
  Extents sizes = c.Ints("qkv_hidden_sizes").value_or(Extents());
  if (sizes.empty()) sizes.assign(3, width / 3);
  c.Require(sizes.size() == 3 && sizes[0] > 0 && sizes[0] == sizes[1] &&
                sizes[2] > 0 && sizes[2] < width && sizes[0] < width &&
                sizes[0] * 2 + sizes[2] == width,
            "its weights have {} columns, for parts of {}", width,
            TupleText(sizes));
  const DType dtype = x.type().dtype, wide = AccumulateType(dtype);
  Value all = c.Op<op::Dot>({x, weight});
  if (c.Has(2)) all = c.Add(all, c.In(2));
  const auto part = [&](int64_t begin, int64_t size) {
    return SplitHeads(c, c.SliceAxis(all, 2, begin, begin + size), heads);
  };
  const Value q = part(0, sizes[0]);
  Value k = part(sizes[0], sizes[1]), v = part(2 * sizes[0], sizes[2]);
  int64_t past = 0;
  if (c.Has(4) && !Call::IsEmpty(c.ShapeOf(4))) {
    const Value before = c.In(4);
    c.Require(before.shape().rank() == 5 && before.shape()[0] == 2,
              "its past has the shape {}", ToString(before.shape()));
    past = before.shape()[3];
    k = Appended(c, Entry(c, before, 0), k, 2);
    v = Appended(c, Entry(c, before, 1), v, 2);
  }
  const int64_t keys = k.shape()[2];
  AttentionMask mask;
  AddIntegerMask(c, mask, 3, s[0], s[1], keys, wide);
  if (c.Has(5)) mask.AddBias(c, c.Cast(c.In(5), wide));
  if (causal) AllowPast(c, mask, s[1], keys, past);
  const AttentionResult result = Attend(
      c, {.q = q, .k = k, .v = v, .scale = ScaleAttribute(c, q.shape()[3])},
      mask);
  c.Give(0, c.Cast(JoinHeads(c, result.y), dtype));
  if (!c.Wants(1)) return;
  c.Require(k.shape() == v.shape(), "its keys and values differ in size");
  c.Give(1, c.Concat({c.Unsqueeze(k, 0), c.Unsqueeze(v, 0)}, 0));
}

namespace {

struct Projected {
  Value q, k, v;  // [batch, heads, length, size]
};

// Queries, keys and values, of which some may lie in one tensor.
Projected ProjectedOf(Call& c, int64_t heads) {
  const Value first = c.In(0);
  Value bias[3];
  const auto biased = [&](Value x, int i) {
    return bias[i] ? c.Add(x, bias[i]) : x;
  };
  const auto turned = [&](Value x) { return c.Transpose(x, {0, 2, 1, 3}); };
  const auto packed = [&](Value x, int64_t count, int64_t i) {
    const Shape& p = x.shape();
    c.Require(p.rank() == 5 && p[2] == heads && p[3] == count,
              "a packed input has the shape {}", ToString(p));
    return c.Reshape(c.SliceAxis(x, 3, i, i + 1),
                     Shape{p[0], p[1], p[2], p[4]});
  };
  if (!c.Has(1)) {
    c.Require(!c.Has(2) && !c.Has(3), "a packed query has no bias");
    return {turned(packed(first, 3, 0)), turned(packed(first, 3, 1)),
            turned(packed(first, 3, 2))};
  }
  const Value key = c.In(1);
  c.Require(first.shape().rank() == 3, "its query has the shape {}",
            ToString(first.shape()));
  const int64_t width = first.shape()[2];
  if (c.Has(3)) {
    const Value all = c.In(3);
    c.Require(all.shape().rank() == 1 && all.shape()[0] > 2 * width,
              "its bias has the shape {}", ToString(all.shape()));
    bias[0] = c.SliceAxis(all, 0, 0, width);
    bias[1] = c.SliceAxis(all, 0, width, 2 * width);
    bias[2] = c.SliceAxis(all, 0, 2 * width, all.shape()[0]);
  }
  Projected p;
  p.q = SplitHeads(c, biased(first, 0), heads);
  if (!c.Has(2)) {
    c.Require(!c.Has(3), "a packed key has no bias");
    p.k = turned(packed(key, 2, 0));
    p.v = turned(packed(key, 2, 1));
    return p;
  }
  const Value value = c.In(2);
  if (key.shape().rank() == 4) {
    // Keys of another network's part, which are in place.
    c.Require(value.shape().rank() == 4, "its value has the shape {}",
              ToString(value.shape()));
    p.k = key;
    p.v = value;
    return p;
  }
  p.k = SplitHeads(c, biased(key, 1), heads);
  p.v = SplitHeads(c, biased(value, 2), heads);
  return p;
}

Value PastInput(Call& c, int i) {
  if (!c.Has(i) || Call::IsEmpty(c.ShapeOf(i))) return {};
  const Value past = c.In(i);
  c.Require(past.shape().rank() == 4, "input {} has the shape {}", i,
            ToString(past.shape()));
  return past;
}

}  // namespace

void ImportMultiHeadAttention(Call& c) {
  const int64_t heads = c.Int("num_heads");
  const bool causal = c.Flag("unidirectional");
  c.Require(!c.Has(8) && !c.Has(9),
            "past_sequence_length and cache_indirection are not supported");
  Projected p = ProjectedOf(c, heads);
  const DType dtype = p.q.type().dtype, wide = AccumulateType(dtype);
  const Value past_key = PastInput(c, 6), past_value = PastInput(c, 7);
  const int64_t past = past_key ? past_key.shape()[2] : 0;
  c.Require(static_cast<bool>(past_key) == static_cast<bool>(past_value),
            "past_key and past_value belong together");
  p.k = Appended(c, past_key, p.k, 2);
  p.v = Appended(c, past_value, p.v, 2);
  const Shape q = p.q.shape();
  const int64_t keys = p.k.shape()[2];
  AttentionMask mask;
  AddIntegerMask(c, mask, 4, q[0], q[2], keys, wide);
  if (c.Has(5)) mask.AddBias(c, c.Cast(c.In(5), wide));
  if (causal) AllowPast(c, mask, q[2], keys, past);
  const AttentionResult result = Attend(
      c, {.q = p.q, .k = p.k, .v = p.v, .scale = ScaleAttribute(c, q[3])},
      mask);
  c.Give(0, c.Cast(JoinHeads(c, result.y), dtype));
  c.Give(1, p.k);
  c.Give(2, p.v);
}

// --- attention of groups, with a cache --------------------------------------

namespace {

// Rows of a table of angles for positions [batch, length].
Value AnglesAt(Call& c, int table, Value positions) {
  c.Require(c.RankOf(table) == 2, "its table of angles has the shape {}",
            ToString(c.ShapeOf(table)));
  return c.Op<op::Take>({c.In(table), positions},
                        {.axis = 0, .mode = IndexMode::kClip});
}

// `past` up to the length of each batch, then `now` [batch, heads, new, size]:
// in all `length` places, of which those beyond are of no meaning.
Value CacheOf(Call& c, Value past, Value now, Value before, int64_t length) {
  const Shape s = now.shape();
  const Value places = Positions(c, 0, length, Shape{1, 1, length, 1});
  const Value fresh =
      c.Reshape(Positions(c, 0, s[2], Shape{s[2]}), Shape{1, 1, 1, s[2]});
  // One row for each place, which chooses the new token that comes there.
  const Value chooses = c.Cast(
      c.Op<op::NpiEqual>({c.Sub(places, before), fresh}), now.type().dtype);
  const Value chosen = c.Op<op::BatchDot>(
      {c.BroadcastTo(chooses, Shape{s[0], s[1], length, s[2]}), now});
  Value kept = past;
  const int64_t had = past.shape()[2];
  if (had < length) {
    kept = c.Concat({past, c.Zeros({past.type().dtype,
                                    Shape{s[0], s[1], length - had, s[3]}})},
                    2);
  }
  return c.Op<op::NpiWhere>(
      {c.Op<op::NpiLess>({places, before}), kept, chosen});
}

}  // namespace

void ImportGroupQueryAttention(Call& c) {
  const int64_t heads = c.Int("num_heads"), kv_heads = c.Int("kv_num_heads");
  constexpr int64_t kMostHeads = 1 << 30;
  c.Require(heads > 0 && heads <= kMostHeads && kv_heads > 0 &&
                kv_heads <= kMostHeads && heads % kv_heads == 0,
            "num_heads is {}, kv_num_heads {}", heads, kv_heads);
  const int64_t window = c.Int("local_window_size", -1);
  const bool rotates = c.Flag("do_rotary");
  const bool interleaved = c.Flag("rotary_interleaved");
  const double softcap = c.Float("softcap", 0);
  c.Require(c.Int("smooth_softmax", -1) <= 0 && c.Int("qk_output", 0) == 0 &&
                !c.Flag("sliding_window_cache") && c.Int("causal", 1) == 1 &&
                c.Int("kv_cache_bit_width", 0) == 0 &&
                c.OneOf("k_quant_type", {"NONE"}, 0) == 0 &&
                c.OneOf("v_quant_type", {"NONE"}, 0) == 0,
            "a smooth softmax, a quantized or a sliding cache and attention "
            "to the future are not supported");
  c.Ignore("qk_norm_epsilon");
  c.Ignore("q_norm_epsilon");
  c.Ignore("k_norm_epsilon");
  for (int i = 11; i < c.inputs(); ++i) {
    c.Require(!c.Has(i), "its input {} is not supported", i);
  }
  Value q = c.In(0);
  c.Require(q.shape().rank() == 3, "its query has the shape {}",
            ToString(q.shape()));
  Value k, v;
  if (c.Has(1)) {
    k = SplitHeads(c, c.In(1), kv_heads);
    v = SplitHeads(c, c.In(2), kv_heads);
    q = SplitHeads(c, q, heads);
  } else {
    const Value all = SplitHeads(c, q, heads + 2 * kv_heads);
    q = c.SliceAxis(all, 1, 0, heads);
    k = c.SliceAxis(all, 1, heads, heads + kv_heads);
    v = c.SliceAxis(all, 1, heads + kv_heads, heads + 2 * kv_heads);
  }
  const Shape s = q.shape();
  const int64_t batch = s[0], length = s[2];
  const DType dtype = q.type().dtype, wide = AccumulateType(dtype);
  const Value past_key = PastInput(c, 3), past_value = PastInput(c, 4);
  c.Require(static_cast<bool>(past_key) == static_cast<bool>(past_value),
            "past_key and past_value belong together");
  // Without a past all tokens are new; else their number decides.
  const int64_t total =
      past_key ? c.NeedInt(6, "total_sequence_length") : length;
  c.Require(total >= length && total < (int64_t{1} << 31),
            "total_sequence_length is {}, {} tokens are new", total, length);
  const bool first = !past_key || total == length;
  Value before;
  if (!first) {
    before = c.Sub(PerBatch(c, 5, batch), static_cast<double>(length - 1));
  }
  Value at = Positions(c, 0, length, Shape{1, 1, length, 1});
  if (before) at = c.Add(at, before);
  if (rotates) {
    const Value positions =
        c.Has(9) ? c.In(9) : c.Reshape(at, Shape{before ? batch : 1, length});
    const Rotation rotation = {AnglesAt(c, 7, positions),
                               AnglesAt(c, 8, positions), interleaved};
    q = c.Cast(Rotated(c, c.Cast(q, wide), rotation), dtype);
    k = c.Cast(Rotated(c, c.Cast(k, wide), rotation), dtype);
  }
  if (past_key) {
    const int64_t places = std::max(total, past_key.shape()[2]);
    if (!before)
      before = c.Constant(Tensor::Filled({DType::kI64, Shape{1, 1, 1, 1}}, 0),
                          "none");
    k = CacheOf(c, past_key, k, before, places);
    v = CacheOf(c, past_value, v, before, places);
  }
  const int64_t keys = k.shape()[2];
  const Value columns = Positions(c, 0, keys, Shape{keys});
  AttentionMask mask;
  mask.Allow(c, c.Op<op::NpiLessEqual>({columns, at}));
  if (window > 0) {
    mask.Allow(c, c.Op<op::NpiGreater>(
                      {columns, c.Sub(at, static_cast<double>(window))}));
  }
  if (c.Has(10)) {
    Value bias = c.Cast(c.In(10), wide);
    const int rank = bias.shape().rank();
    c.Require(rank == 4 && bias.shape()[3] <= keys, "its bias has the shape {}",
              ToString(bias.shape()));
    if (bias.shape()[3] < keys) {
      Extents dims = bias.shape().dims();
      dims[3] = keys - dims[3];
      bias = c.Concat({bias, c.Zeros({wide, Shape(dims)})}, 3);
    }
    mask.AddBias(c, bias);
  }
  const AttentionResult result = Attend(c,
                                        {.q = q,
                                         .k = k,
                                         .v = v,
                                         .scale = ScaleAttribute(c, s[3]),
                                         .softcap = softcap},
                                        mask);
  c.Give(0, c.Cast(JoinHeads(c, result.y), dtype));
  c.Give(1, k);
  c.Give(2, v);
}

void ImportContribRotaryEmbedding(Call& c) {
  const int64_t part = c.Int("rotary_embedding_dim", 0);
  int64_t heads = c.Int("num_heads", 0);
  const bool interleaved = c.Flag("interleaved");
  c.Require(!c.Flag("is_packed_batching") && c.Float("scale", 1) == 1,
            "is_packed_batching and a scale are not supported");
  Value x = c.In(0);
  const int rank = x.shape().rank();
  c.Require(rank == 3 || rank == 4, "its data have {} axes, expected 3 or 4",
            rank);
  c.Require(c.RankOf(2) == 2, "its table has the shape {}",
            ToString(c.ShapeOf(2)));
  const int64_t size = 2 * c.ShapeOf(2)[1];
  if (rank == 3) {
    const int64_t width = x.shape()[2];
    c.Require(size > 0 && (heads > 0 || (part == 0 && width % size == 0)),
              "num_heads is {}, the heads turn {} of {}", heads, size, width);
    if (heads == 0) heads = width / size;
    x = SplitHeads(c, x, heads);
  }
  c.Require(part == 0 || part == size,
            "rotary_embedding_dim is {}, its table is for {}", part, size);
  const int64_t batch = x.shape()[0], length = x.shape()[2];
  Value positions = c.In(1);
  if (positions.shape().elements() == 1) {
    positions = c.Add(Positions(c, 0, length, Shape{1, length}),
                      c.Reshape(c.Cast(positions, DType::kI64), Shape{1, 1}));
  }
  const Shape& of = positions.shape();
  c.Require(of.rank() == 2 && of[1] == length && (of[0] == batch || of[0] == 1),
            "its positions have the shape {}", ToString(of));
  const DType dtype = x.type().dtype;
  const Rotation rotation = {AnglesAt(c, 2, positions),
                             AnglesAt(c, 3, positions), interleaved};
  const Value y =
      c.Cast(Rotated(c, c.Cast(x, AccumulateType(dtype)), rotation), dtype);
  c.Give(0, rank == 3 ? JoinHeads(c, y) : y);
}

}  // namespace mxc::onnx
