// SPDX-License-Identifier: Apache-2.0
// Attention whose state does not grow with the sequence, and the convolution
// that stands before it.
//
// A state S of shape [keys' size, values' size] becomes, token by token,
//   S ← diag(exp(g)) S;  u = β (v − Sᵀ k), or v without β;  S ← S + k uᵀ
// and the token's output is scale · qᵀ S. Of a chunk of tokens all u are the
// solution of one triangular system, because u of a token depends linearly on
// those before it; the rest are products of matrices (Yang et al., Parallelizing
// Linear Transformers with the Delta Rule, 2024).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/onnx/operators/attention.h"
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/numpy/reduction/np_cumsum.h"
#include "ir/ops/tensor/linalg/batch_dot.h"
#include "ir/ops/tensor/shape/repeat.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kChunk = 64;

// [batch, heads, tokens, …] of one chunk.
struct ChunkTerms {
  Value q, k, v, decay, beta;
};

Value BatchProduct(Call& c, Value a, Value b, bool transpose_a = false,
                   bool transpose_b = false) {
  return c.Op<op::BatchDot>(
      {a, b}, {.transpose_a = transpose_a, .transpose_b = transpose_b});
}

// Whether token j lies before token i, or at it: [tokens, tokens].
Value Before(Call& c, int64_t tokens, bool itself) {
  const std::vector<Value> places = {Positions(c, 0, tokens, Shape{tokens}),
                                     Positions(c, 0, tokens, Shape{tokens, 1})};
  return itself ? c.Op<op::NpiLessEqual>(places) : c.Op<op::NpiLess>(places);
}

class LinearAttentionChunk {
 public:
  LinearAttentionChunk(Call& c, const ChunkTerms& t, int64_t group)
      : c_(c), t_(t), group_(group), tokens_(t.k.shape()[2]) {
    // Σ g up to and with each token.
    if (t_.decay) {
      reach_ = c_.Op<op::NpCumsum>({t_.decay}, {.axis = 2});
    }
  }

  // Outputs of the chunk, and the state after it.
  Value Run(Value& state) {
    const Value u = Updates(state);
    Value y = BatchProduct(c_, Decayed(t_.q, group_), Repeated(state, group_));
    const Value scores = Seen(Scores(t_.q, group_), true);
    y = c_.Add(y, BatchProduct(c_, scores, Repeated(u, group_)));
    const Value added = BatchProduct(c_, Remaining(t_.k), u, true);
    state = c_.Add(DecayedState(state), added);
    return y;
  }

 private:
  // Heads of keys, each for all of the queries' heads that share it.
  Value Repeated(Value x, int64_t times) {
    if (times == 1 || !x) return x;
    return c_.Op<op::Repeat>({x}, {.repeats = times, .axis = 1});
  }
  Value Masked(Value x, bool itself, double otherwise) {
    return c_.Op<op::NpiWhere>(
        {Before(c_, tokens_, itself), x, c_.ScalarLike(otherwise, x)});
  }
  Value Seen(Value x, bool itself) { return Masked(x, itself, 0); }

  // u of all tokens.
  Value Updates(Value state) {
    if (!t_.beta) return t_.v;
    const Value known = BatchProduct(c_, Decayed(t_.k, 1), state);
    const Value right = c_.Mul(t_.beta, c_.Sub(t_.v, known));
    if (tokens_ == 1) return right;
    const Value lower = c_.Mul(t_.beta, Seen(Scores(t_.k, 1), false));
    std::byte* to = nullptr;
    Tensor unit =
        Tensor::Allocate({lower.type().dtype, Shape{tokens_, tokens_}}, &to);
    for (int64_t i = 0; i < tokens_; ++i) {
      StoreElement(to + i * (tokens_ + 1) * SizeOf(unit.type().dtype),
                   unit.type().dtype, 1);
    }
    const Value system = c_.Add(lower, c_.Constant(std::move(unit), "unit"));
    return c_.Op<op::LinalgTrsm>({system, right});
  }

  // exp(G) · x: what is left of a state from before the chunk.
  Value Decayed(Value x, int64_t times) {
    if (!reach_) return x;
    return c_.Mul(x, Repeated(c_.Exp(reach_), times));
  }
  Value Last() {
    const int64_t tokens = reach_.shape()[2];
    return c_.SliceAxis(reach_, 2, tokens - 1, tokens);
  }
  // exp(G of the last token − G) · x
  Value Remaining(Value x) {
    if (!reach_) return x;
    return c_.Mul(x, c_.Exp(c_.Sub(Last(), reach_)));
  }
  Value DecayedState(Value state) {
    if (!reach_) return state;
    const Value last = c_.Exp(Last());  // [batch, heads, 1, size or 1]
    return c_.Mul(state, c_.Transpose(last, {0, 1, 3, 2}));
  }

  // Σ x[i] k[j] exp(G[i] − G[j]), where j is not after i.
  Value Scores(Value x, int64_t times) {
    const Value keys = Repeated(t_.k, times);
    if (!reach_) return BatchProduct(c_, x, keys, false, true);
    const Value reach = Repeated(reach_, times);
    const Shape s = reach.shape();
    if (s[3] == 1) {
      const Value ages = c_.Sub(reach, c_.Transpose(reach, {0, 1, 3, 2}));
      return c_.Mul(BatchProduct(c_, x, keys, false, true),
                    c_.Exp(Masked(ages, true, kForgotten)));
    }
    const Shape rows{s[0], s[1], s[2], 1, s[3]};
    const Shape columns{s[0], s[1], 1, s[2], s[3]};
    Value ages = c_.Sub(c_.Reshape(reach, rows), c_.Reshape(reach, columns));
    const Value past =
        c_.Reshape(Before(c_, tokens_, true), Shape{tokens_, tokens_, 1});
    ages = c_.Op<op::NpiWhere>({past, ages, c_.ScalarLike(kForgotten, ages)});
    const Value terms = c_.Mul(c_.Mul(c_.Reshape(x, rows), c_.Exp(ages)),
                               c_.Reshape(keys, columns));
    return c_.Sum(terms, {4});
  }

  static constexpr double kForgotten = -std::numeric_limits<double>::infinity();

  Call& c_;
  const ChunkTerms t_;
  const int64_t group_, tokens_;
  Value reach_;
};

}  // namespace

void ImportLinearAttention(Call& c) {
  c.Ignore("chunk_size");
  enum { kLinear, kGated, kDelta, kGatedDelta };
  const int rule = c.OneOf(
      "update_rule", {"linear", "gated", "delta", "gated_delta"}, kGatedDelta);
  const int64_t q_heads = c.Int("q_num_heads"), heads = c.Int("kv_num_heads");
  c.Require(heads > 0 && q_heads > 0 && q_heads % heads == 0,
            "q_num_heads is {}, kv_num_heads {}", q_heads, heads);
  const bool gated = rule == kGated || rule == kGatedDelta;
  const bool delta = rule == kDelta || rule == kGatedDelta;
  c.Require(c.Has(4) == gated && c.Has(5) == delta,
            "its rule asks for {} decay and {} beta", gated ? "a" : "no",
            delta ? "a" : "no");
  const DType dtype = c.DTypeOf(0);
  constexpr DType kWide = DType::kF32;
  const auto split = [&](int i, int64_t count) {
    return SplitHeads(c, c.Cast(c.In(i), kWide), count);
  };
  Value q = split(0, q_heads);
  const Value k = split(1, heads), v = split(2, heads);
  const Shape keys = k.shape();
  const int64_t tokens = keys[2], size = keys[3];
  c.Require(q.shape() == Shape({keys[0], q_heads, tokens, size}) &&
                v.shape()[0] == keys[0] && v.shape()[2] == tokens,
            "query, key and value do not agree");
  double scale = c.Float("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(size));
  q = c.Mul(q, scale);
  Value decay, beta;
  if (gated) {
    decay = split(4, heads);
    c.Require(decay.shape()[2] == tokens &&
                  (decay.shape()[3] == 1 || decay.shape()[3] == size),
              "its decay has shape {}", ToString(c.ShapeOf(4)));
  }
  if (delta) {
    const Shape& of = c.ShapeOf(5);
    c.Require(
        of.rank() == 3 && of[1] == tokens && (of[2] == heads || of[2] == 1),
        "its beta has shape {}", ToString(of));
    beta = split(5, of[2]);
  }
  const Shape state_shape{keys[0], heads, size, v.shape()[3]};
  Value state;
  DType state_type = dtype;
  if (c.Has(3)) {
    state_type = c.DTypeOf(3);
    c.Require(c.ShapeOf(3) == state_shape,
              "its state has shape {}, expected {}", ToString(c.ShapeOf(3)),
              ToString(state_shape));
    state = c.Cast(c.In(3), kWide);
  } else {
    state = c.Zeros({kWide, state_shape});
  }
  std::vector<Value> parts;
  for (int64_t begin = 0; begin < tokens; begin += kChunk) {
    const int64_t end = std::min(tokens, begin + kChunk);
    const auto cut = [&](Value x) {
      return x && end - begin < tokens ? c.SliceAxis(x, 2, begin, end) : x;
    };
    const ChunkTerms terms = {cut(q), cut(k), cut(v), cut(decay), cut(beta)};
    parts.push_back(LinearAttentionChunk(c, terms, q_heads / heads).Run(state));
  }
  const Value y = c.Cast(JoinHeads(c, c.Concat(parts, 2)), dtype);
  c.Give(0, y);
  c.Give(1, c.Cast(state, state_type));
}

void ImportCausalConvWithState(Call& c) {
  const int silu = c.OneOf("activation", {"none", "silu", "swish"}, 0);
  const Value given = c.In(0), weight = c.In(1);
  const Shape s = given.shape();
  c.Require(s.rank() == 3 && weight.shape().rank() == 3 &&
                weight.shape()[0] == s[1] && weight.shape()[1] == 1,
            "its data have the shape {}, its weight {}", ToString(s),
            ToString(weight.shape()));
  const int64_t taps = weight.shape()[2];
  const DType dtype = given.type().dtype, wide = AccumulateType(dtype);
  Value x = c.Cast(given, wide);
  if (taps > 1) {
    const Shape before{s[0], s[1], taps - 1};
    Value past;
    if (c.Has(3)) {
      c.Require(c.ShapeOf(3) == before, "its state has shape {}, expected {}",
                ToString(c.ShapeOf(3)), ToString(before));
      past = c.Cast(c.In(3), wide);
    } else {
      past = c.Zeros({wide, before});
    }
    x = c.Concat({past, x}, 2);
  }
  std::vector<Value> inputs = {x, c.Cast(weight, wide)};
  if (c.Has(2)) inputs.push_back(c.Cast(c.In(2), wide));
  ConvolutionAttrs attrs;
  attrs.kernel = {taps};
  attrs.num_filter = attrs.num_group = s[1];
  attrs.no_bias = !c.Has(2);
  Value y = c.Op<op::Convolution>(inputs, attrs);
  if (silu != 0) y = c.Mul(y, c.Op<op::Sigmoid>({y}));
  c.Give(0, c.Cast(y, dtype));
  if (!c.Wants(1)) return;
  if (taps == 1) {
    std::byte* nothing = nullptr;
    return c.Give(1, Tensor::Allocate({dtype, Shape{s[0], s[1], 0}}, &nothing));
  }
  const int64_t length = s[2] + taps - 1;
  c.Give(1, c.Cast(c.SliceAxis(x, 2, s[2], length), dtype));
}

}  // namespace mxc::onnx
