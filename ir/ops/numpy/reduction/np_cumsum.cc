// SPDX-License-Identifier: Apache-2.0
// _np_cumsum: sums of the elements up to each position along an axis, or of the
// flattened input.
// C1  axis is in range, counted from the front
#include "ir/ops/numpy/reduction/np_cumsum.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/reverse.h"

namespace mxc {
namespace {

void CumsumTypes(const CumsumAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.dtype.value_or(t.InDType(0)));
  if (attrs.axis) {
    t.AllSameShape();
    if (!t.In(0).known_rank()) return;
    t.Require(0 <= *attrs.axis && *attrs.axis < t.In(0).rank(),
              "C1: axis {} is out of range for a shape of rank {}", *attrs.axis,
              t.In(0).rank());
  } else if (t.In(0).known()) {
    const auto count = CheckedProduct(t.In(0).dims());
    if (t.Require(count.has_value(), "a is too large")) {
      t.SetOut(0, Shape{*count});
    }
  }
}

// Of blocks, to whose sums those of all blocks before are added, which are found
// likewise. n elements take 32 n additions, not n²/2, in an order that follows from n.
//
//   x [a, n, b] ⇒ [a, n/64, 64, b] ─ _running_sum ─────────────────────┬─ + ─►
//                                          └ [a, n/64, b]: the last ─ … ┘
Value RunningSums(GraphBuilder& b, Value x, int axis) {
  constexpr int64_t kBlock = 64;
  const Shape shape = x.shape();
  const int64_t n = shape[axis];
  if (n <= kBlock) return b.Op<op::RunningSum>({x}, {.axis = axis});
  const DType dtype = x.type().dtype;
  int64_t outer = 1, inner = 1;
  for (int a = 0; a < axis; ++a) outer *= shape[a];
  for (int a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  Value cut = b.Reshape(x, {outer, n, inner});
  if (const int64_t rest = blocks * kBlock - n; rest > 0) {
    cut = b.Concat({cut, b.Zeros({dtype, {outer, rest, inner}})}, 1);
  }
  const Value own = b.Op<op::RunningSum>(
      {b.Reshape(cut, {outer, blocks, kBlock, inner})}, {.axis = 2});
  const Value last = b.Reshape(b.SliceAxis(own, 2, kBlock - 1, kBlock),
                               {outer, blocks, inner});
  const Value before =
      b.Concat({b.Zeros({dtype, {outer, 1, inner}}),
                RunningSums(b, b.SliceAxis(last, 1, 0, blocks - 1), 1)},
               1);
  const Value sums = b.Add(own, b.Reshape(before, {outer, blocks, 1, inner}));
  const Value row = b.Reshape(sums, {outer, blocks * kBlock, inner});
  return b.Reshape(b.SliceAxis(row, 1, 0, n), shape);
}

bool IsNarrow(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

std::vector<Value> CumsumParts(const CumsumAttrs& attrs, const Node& node,
                               GraphBuilder& b) {
  const TensorType& type = node.types[0];
  // Sums are added up in f32, and each is rounded once.
  const DType wide = IsNarrow(type.dtype) ? DType::kF32 : type.dtype;
  const Value x = b.Reshape(b.Cast(node.inputs[0], wide), type.shape);
  const Value sums =
      RunningSums(b, x, static_cast<int>(attrs.axis.value_or(0)));
  return {b.Cast(sums, type.dtype)};
}

// The sums from each position on: those up to it, of the reversed head.
std::vector<Value> CumsumGradient(const CumsumAttrs& attrs,
                                  GradientBuilder& g) {
  const int64_t axis = attrs.axis.value_or(0);
  const Value head = g.Cast(g.Head(), g.In(0).type().dtype);
  const ReverseAttrs along = {.axis = {axis}};
  const Value sums =
      g.Op<op::NpCumsum>({g.Op<op::Reverse>({head}, along)}, {.axis = axis});
  return {g.Reshape(g.Op<op::Reverse>({sums}, along), g.In(0).shape())};
}

}  // namespace

MXC_OP(NpCumsum) {
  return Op<CumsumAttrs>("_np_cumsum")
      .Alias({"cumsum"})
      .Doc("sums up to each position")
      .Inputs({{"a", InputKind::kData}})
      .Types(CumsumTypes)
      .Decompose(CumsumParts)
      .Gradient(CumsumGradient);
}

}  // namespace mxc
