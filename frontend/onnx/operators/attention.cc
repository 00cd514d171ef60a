// SPDX-License-Identifier: Apache-2.0
// Attention, with what queries see said as comparisons of positions, and the
// rotation of queries and keys by their positions.
#include "frontend/onnx/operators/attention.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/onnx/tensor_data.h"
#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/linalg/batch_dot.h"

namespace mxc::onnx {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

Value BothTrue(Call& c, Value a, Value b) {
  return c.Op<op::BroadcastLogicalAnd>({a, b});
}

// Whether a row has anything that is seen, [batch, heads, queries, 1] or what
// broadcasts to it.
Value SeesAnything(Call& c, const AttentionMask& mask) {
  Value seen = mask.allowed;
  if (mask.bias) {
    const Value finite =
        c.Op<op::NpiLogicalNot>({c.Op<op::NpiIsneginf>({mask.bias})});
    seen = seen ? BothTrue(c, seen, finite) : finite;
  }
  const int last = seen.shape().rank() - 1;
  const Value any = c.Op<op::NpMax>({c.Cast(seen, DType::kF32)},
                                    {.axis = Extents{last}, .keepdims = true});
  return c.Op<op::NpiGreaterScalar>({any}, {.scalar = 0});
}

void CheckTerms(Call& c, const AttentionTerms& t) {
  const Shape &q = t.q.shape(), &k = t.k.shape(), &v = t.v.shape();
  c.Require(q.rank() == 4 && k.rank() == 4 && v.rank() == 4,
            "query, key and value have the shapes {}, {} and {}, expected 4 "
            "axes",
            ToString(q), ToString(k), ToString(v));
  c.Require(q[0] == k[0] && k[0] == v[0] && q[3] == k[3] && k[2] == v[2] &&
                k[1] == v[1] && q[1] % k[1] == 0,
            "query, key and value have the shapes {}, {} and {}, which do not "
            "agree",
            ToString(q), ToString(k), ToString(v));
}

}  // namespace

void AttentionMask::Allow(Call& c, Value more) {
  allowed = allowed ? BothTrue(c, allowed, more) : more;
}

void AttentionMask::AddBias(Call& c, Value more) {
  bias = bias ? c.Add(bias, more) : more;
}

Value SplitHeads(Call& c, Value x, int64_t heads) {
  const Shape& s = x.shape();
  c.Require(s.rank() == 3 && heads > 0 && s[2] % heads == 0,
            "shape {} cannot be of {} heads", ToString(s), heads);
  const Value parts = c.Reshape(x, Shape{s[0], s[1], heads, s[2] / heads});
  return c.Transpose(parts, {0, 2, 1, 3});
}

Value JoinHeads(Call& c, Value x) {
  const Shape s = x.shape();
  return c.Reshape(c.Transpose(x, {0, 2, 1, 3}),
                   Shape{s[0], s[2], s[1] * s[3]});
}

Value Positions(Call& c, int64_t first, int64_t count, const Shape& shape) {
  c.RequireFew(count);
  std::byte* to = nullptr;
  Tensor tensor = Tensor::Allocate({DType::kI64, shape}, &to);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = first + i;
    std::memcpy(to + i * sizeof(at), &at, sizeof(at));
  }
  return c.Constant(std::move(tensor), "positions");
}

Value PerBatch(Call& c, int i, int64_t batch) {
  const Value x = c.In(i);
  c.Require(!IsFloat(x.type().dtype) && x.shape().elements() == batch,
            "input {} is {}, expected an integer for each of {} entries", i,
            ToString(x.type()), batch);
  return c.Reshape(c.Cast(x, DType::kI64), Shape{batch, 1, 1, 1});
}

AttentionResult Attend(Call& c, const AttentionTerms& t,
                       const AttentionMask& mask) {
  CheckTerms(c, t);
  const DType wide = AccumulateType(t.q.type().dtype);
  const Shape q = t.q.shape(), k = t.k.shape(), v = t.v.shape();
  const Shape scores{q[0], q[1], q[2], k[2]};
  // Queries of heads that share keys are rows of one product.
  const int64_t rows = q[1] / k[1] * q[2];
  Value query = c.Cast(t.q, wide);
  if (t.scale != 1) query = c.Mul(query, t.scale);
  query = c.Reshape(query, Shape{q[0], k[1], rows, q[3]});
  AttentionResult r;
  r.raw = c.Reshape(
      c.Op<op::BatchDot>({query, c.Cast(t.k, wide)}, {.transpose_b = true}),
      scores);
  r.capped = r.raw;
  if (t.softcap > 0) {
    r.capped = c.Mul(c.Op<op::Tanh>({c.Div(r.raw, t.softcap)}), t.softcap);
  }
  r.masked = r.capped;
  const auto within = [&](const Value& part, std::string_view what) {
    if (!part) return;
    const Shape& s = part.shape();
    bool fits = s.rank() <= 4;
    for (int i = 1; fits && i <= s.rank(); ++i) {
      fits = s[s.rank() - i] == 1 || s[s.rank() - i] == scores[4 - i];
    }
    c.Require(fits, "its {} has shape {}, which does not broadcast to {}", what,
              ToString(s), ToString(scores));
  };
  within(mask.allowed, "mask");
  within(mask.bias, "mask");
  if (mask.bias) r.masked = c.Add(r.masked, mask.bias);
  if (mask.allowed) {
    r.masked = c.Op<op::NpiWhere>(
        {mask.allowed, r.masked, c.ScalarLike(kMasked, r.masked)});
  }
  Value logits = r.masked, any;
  if (mask.empty_rows) {
    any = SeesAnything(c, mask);
    logits = c.Op<op::NpiWhere>({any, logits, c.ScalarLike(0, logits)});
  }
  if (t.softmax) logits = c.Cast(logits, *t.softmax);
  r.probabilities = c.Cast(c.Op<op::Softmax>({logits}, {.axis = -1}), wide);
  if (any) {
    r.probabilities = c.Op<op::NpiWhere>(
        {any, r.probabilities, c.ScalarLike(0, r.probabilities)});
  }
  const Value weights =
      c.Reshape(r.probabilities, Shape{q[0], k[1], rows, k[2]});
  r.y = c.Reshape(c.Op<op::BatchDot>({weights, c.Cast(t.v, wide)}),
                  Shape{q[0], q[1], q[2], v[3]});
  return r;
}

namespace {

// Where each query stands among the keys: those before the first one.
struct Standpoint {
  int64_t before = 0;
  Value per_batch = {};  // [batch, 1, 1, 1], besides
};

// The limits that positions set: a query at p sees keys from p − left to p, or
// to p + right; -1: all.
void LimitByPosition(Call& c, AttentionMask& mask, const Standpoint& stands,
                     int64_t queries, int64_t keys, int64_t left,
                     int64_t right) {
  if (left < 0 && right < 0) return;
  const Value columns = Positions(c, 0, keys, Shape{keys});
  Value at = Positions(c, stands.before, queries, Shape{queries, 1});
  if (stands.per_batch) at = c.Add(at, stands.per_batch);
  if (right >= 0) {
    const Value last = right == 0 ? at : c.Add(at, static_cast<double>(right));
    mask.Allow(c, c.Op<op::NpiLessEqual>({columns, last}));
  }
  if (left >= 0) {
    const Value first = left == 0 ? at : c.Sub(at, static_cast<double>(left));
    mask.Allow(c, c.Op<op::NpiGreaterEqual>({columns, first}));
  }
  const bool beyond = left >= 0 && stands.before + queries - 1 - left >= keys;
  mask.empty_rows = mask.empty_rows || beyond || stands.per_batch;
}

// A mask of truth values or of floats, continued to all keys by what hides
// them.
void AddMaskInput(Call& c, AttentionMask& mask, int i, int64_t keys,
                  DType wide) {
  Value given = c.In(i);
  const int rank = given.shape().rank();
  c.Require(rank >= 1 && rank <= 4, "its mask has {} axes", rank);
  const int64_t short_of = keys - given.shape()[rank - 1];
  const bool truth = given.type().dtype == DType::kBool;
  if (!truth) given = c.Cast(given, wide);
  if (short_of > 0) {
    Extents dims = given.shape().dims();
    dims[rank - 1] = short_of;
    const Value hides = c.ScalarLike(truth ? 0 : kMasked, given);
    given = c.Concat({given, c.Everywhere(hides, dims)}, rank - 1);
  }
  mask.empty_rows = true;
  if (truth) {
    mask.Allow(c, given);
  } else {
    mask.AddBias(c, given);
  }
}

Value WithPast(Call& c, int past, Value now) {
  if (!c.Has(past) || Call::IsEmpty(c.ShapeOf(past))) return now;
  const Value before = c.In(past);
  c.Require(before.shape().rank() == 4, "input {} has {} axes, expected 4",
            past, before.shape().rank());
  return c.Concat({before, now}, 2);
}

}  // namespace

void ImportAttention(Call& c) {
  const int rank = c.RankOf(0);
  c.Require(rank == 3 || rank == 4, "its query has {} axes, expected 3 or 4",
            rank);
  const int64_t q_heads = c.Int("q_num_heads", 0);
  const int64_t kv_heads = c.Int("kv_num_heads", 0);
  Value q = c.In(0), k = c.In(1), v = c.In(2);
  if (rank == 3) {
    c.Require(q_heads > 0 && kv_heads > 0,
              "its operands have 3 axes and q_num_heads is {}, kv_num_heads {}",
              q_heads, kv_heads);
    q = SplitHeads(c, q, q_heads);
    k = SplitHeads(c, k, kv_heads);
    v = SplitHeads(c, v, kv_heads);
  } else {
    c.Require((q_heads == 0 || q_heads == q.shape()[1]) &&
                  k.shape().rank() == 4 &&
                  (kv_heads == 0 || kv_heads == k.shape()[1]),
              "its heads are not those of its attributes");
  }
  c.Require(c.Has(4) == c.Has(5), "past_key and past_value belong together");
  const bool padded = c.Has(6);
  c.Require(!padded || !c.Has(4),
            "nonpad_kv_seqlen and past_key exclude each other");
  const int64_t fresh = k.shape()[2];
  k = WithPast(c, 4, k);
  v = WithPast(c, 5, v);
  const DType dtype = q.type().dtype;
  const int64_t queries = q.shape()[2], keys = k.shape()[2];

  AttentionMask mask;
  Standpoint stands{.before = keys - fresh};
  if (padded) {
    const Value count = PerBatch(c, 6, q.shape()[0]);
    mask.Allow(c,
               c.Op<op::NpiLess>({Positions(c, 0, keys, Shape{keys}), count}));
    mask.empty_rows = true;
    stands = {.before = -queries, .per_batch = count};
  }
  const int64_t left = c.Int("left_window_size", -1);
  int64_t right = c.Int("right_window_size", -1);
  c.Require(left >= -1 && left < (1 << 30) && right >= -1 && right < (1 << 30),
            "its windows are {} and {}", left, right);
  c.Require(c.opset() >= 25 || (left == -1 && right == -1),
            "windows are known from version 25 on");
  if (c.Flag("is_causal")) right = 0;
  LimitByPosition(c, mask, stands, queries, keys, left, right);
  if (c.Has(3)) AddMaskInput(c, mask, 3, keys, AccumulateType(dtype));

  const double size = static_cast<double>(q.shape()[3]);
  const AttentionResult result =
      Attend(c,
             {.q = q,
              .k = k,
              .v = v,
              .scale = c.Float("scale", 1 / std::sqrt(size)),
              .softcap = c.Float("softcap", 0),
              .softmax = c.FloatType("softmax_precision")},
             mask);
  const Value y = c.Cast(result.y, dtype);
  c.Give(0, rank == 3 ? JoinHeads(c, y) : y);
  c.Give(1, k);
  c.Give(2, v);
  const int64_t mode = c.Int("qk_matmul_output_mode", 0);
  c.Require(mode >= 0 && mode <= 3, "qk_matmul_output_mode is {}", mode);
  const Value shown[] = {result.raw, result.capped, result.masked,
                         result.probabilities};
  c.Give(3, c.Cast(shown[mode], dtype));
}

namespace {

// The one output of a graph that changes a tensor and leaves its type.
Value Modified(Call& c, std::string_view name, Value x) {
  if (!c.HasAttribute(name)) return x;
  Operand given{.value = x};
  std::vector<Operand> results = c.Run(c.GraphOf(name), {given});
  c.Require(results.size() == 1, "{} has {} outputs, expected one", name,
            results.size());
  const Value y = c.ValueOf(results[0]);
  c.Require(y.type() == x.type(), "{} makes {} of {}", name, ToString(y.type()),
            ToString(x.type()));
  return y;
}

}  // namespace

void ImportFlexAttention(Call& c) {
  const Value q = c.In(0), k = c.In(1), v = c.In(2);
  AttentionTerms terms{.q = q, .k = k, .v = v};
  CheckTerms(c, terms);
  const DType dtype = q.type().dtype;
  const DType wide =
      c.FloatType("softmax_precision").value_or(AccumulateType(dtype));
  const Shape s = q.shape(), keys = k.shape();
  const double scale =
      c.Float("scale", 1 / std::sqrt(static_cast<double>(s[3])));
  const int64_t rows = s[1] / keys[1] * s[2];
  const DType sums = AccumulateType(dtype);
  const Value query = c.Reshape(c.Mul(c.Cast(q, sums), scale),
                                Shape{s[0], keys[1], rows, s[3]});
  const Value scores = c.Reshape(
      c.Op<op::BatchDot>({query, c.Cast(k, sums)}, {.transpose_b = true}),
      Shape{s[0], s[1], s[2], keys[2]});
  const Value changed = Modified(c, "score_mod", c.Cast(scores, wide));
  const Value weights =
      Modified(c, "prob_mod", c.Op<op::Softmax>({changed}, {.axis = -1}));
  const Value y = c.Op<op::BatchDot>(
      {c.Reshape(c.Cast(weights, sums), Shape{s[0], keys[1], rows, keys[2]}),
       c.Cast(v, sums)});
  c.Give(0, c.Cast(c.Reshape(y, Shape{s[0], s[1], s[2], v.shape()[3]}), dtype));
}

// --- rotation ---------------------------------------------------------------

Value Rotated(Call& c, Value x, const Rotation& r) {
  const Shape s = x.shape();
  const Shape& turns = r.cos.shape();
  c.Require(turns.rank() == 3 && r.sin.shape() == turns && turns[1] == s[2] &&
                (turns[0] == s[0] || turns[0] == 1) && 2 * turns[2] <= s[3],
            "its cosines have the shape {} and its sines {}, for {}",
            ToString(turns), ToString(r.sin.shape()), ToString(s));
  const int64_t half = turns[2], size = 2 * half;
  const auto beside = [&](Value t) {
    return c.Reshape(c.Cast(t, x.type().dtype),
                     Shape{turns[0], 1, turns[1], half});
  };
  const Value cos = beside(r.cos), sin = beside(r.sin);
  const Value turned = size == s[3] ? x : c.SliceAxis(x, 3, 0, size);
  Value a, b;
  const Shape pairs{s[0], s[1], s[2], half, 2};
  if (r.interleaved) {
    const Value both = c.Reshape(turned, pairs);
    const Shape one{s[0], s[1], s[2], half};
    a = c.Reshape(c.SliceAxis(both, 4, 0, 1), one);
    b = c.Reshape(c.SliceAxis(both, 4, 1, 2), one);
  } else {
    a = c.SliceAxis(turned, 3, 0, half);
    b = c.SliceAxis(turned, 3, half, size);
  }
  const Value real = c.Sub(c.Mul(cos, a), c.Mul(sin, b));
  const Value imaginary = c.Add(c.Mul(sin, a), c.Mul(cos, b));
  Value y;
  if (r.interleaved) {
    y = c.Reshape(
        c.Concat({c.Unsqueeze(real, 4), c.Unsqueeze(imaginary, 4)}, 4),
        Shape{s[0], s[1], s[2], size});
  } else {
    y = c.Concat({real, imaginary}, 3);
  }
  if (size == s[3]) return y;
  return c.Concat({y, c.SliceAxis(x, 3, size, s[3])}, 3);
}

void ImportRotaryEmbedding(Call& c) {
  const int64_t heads = c.Int("num_heads", 0);
  const int64_t part = c.Int("rotary_embedding_dim", 0);
  const bool interleaved = c.Flag("interleaved");
  const int rank = c.RankOf(0);
  c.Require(rank == 3 || rank == 4, "its data have {} axes, expected 3 or 4",
            rank);
  Value x = c.In(0), cos = c.In(1), sin = c.In(2);
  if (rank == 3) x = SplitHeads(c, x, heads);
  const DType dtype = x.type().dtype, wide = AccumulateType(dtype);
  const int64_t size = part == 0 ? x.shape()[3] : part;
  c.Require(size > 0 && size % 2 == 0 && size <= x.shape()[3],
            "rotary_embedding_dim is {}, heads have {} elements", part,
            x.shape()[3]);
  if (c.Has(3)) {
    const Value at = c.In(3);
    c.Require(cos.shape().rank() == 2 && sin.shape() == cos.shape() &&
                  at.shape().rank() == 2,
              "its cosines are {} and its positions {}", ToString(cos.shape()),
              ToString(at.shape()));
    const TakeAttrs rows = {.axis = 0, .mode = IndexMode::kClip};
    cos = c.Op<op::Take>({cos, at}, rows);
    sin = c.Op<op::Take>({sin, at}, rows);
  }
  c.Require(cos.shape().rank() == 3 && 2 * cos.shape()[2] == size,
            "its cosines have the shape {}, expected {} elements along the "
            "last of 3 axes",
            ToString(cos.shape()), size / 2);
  const Value y =
      c.Cast(Rotated(c, c.Cast(x, wide), {cos, sin, interleaved}), dtype);
  c.Give(0, rank == 3 ? JoinHeads(c, y) : y);
}

}  // namespace mxc::onnx
