// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/elementwise/binary.h"

#include <algorithm>

namespace mxc {
namespace {

Op<> BinaryOperator(std::string name, std::string doc, BinaryFunction f) {
  Op<> op(std::move(name));
  op.Doc(std::move(doc));
  op.Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}});
  op.Meaning([f](const NoAttrs&, Definition& def) {
    const std::vector<Expr> index = def.Indices();
    def.Set(0, f(def.InBroadcast(0, index), def.InBroadcast(1, index)));
  });
  op.ElementwiseGradient();
  return op;
}

// True when no value of the unknown extents makes the shapes equal.
bool ShapesDiffer(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank()) return false;
  if (a.rank() != b.rank()) return true;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.known(axis) && b.known(axis) && a[axis] != b[axis]) return true;
  }
  return false;
}

// The extent that `a` and `b` broadcast to: kUnknownDim when it does not follow
// yet, nullopt when there is none.
std::optional<int64_t> BroadcastExtent(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a == Shape::kUnknownDim) return b;
  if (b == Shape::kUnknownDim) return a;
  return std::nullopt;
}

// Extent of an axis counted from the last one; 1 before the first.
int64_t FromLast(const Shape& shape, int axis) {
  return axis < shape.rank() ? shape[shape.rank() - 1 - axis] : 1;
}

}  // namespace

Op<> ElementwiseOperator(std::string name, std::string doc, BinaryFunction f) {
  Op<> op = BinaryOperator(std::move(name), std::move(doc), f);
  op.Types([](const NoAttrs&, TypeInference& t) {
    t.Require(
        !ShapesDiffer(t.In(0), t.In(1)),
        "C1: lhs has shape {} but rhs {}; only broadcast operators repeat "
        "axes",
        ToString(t.In(0)), ToString(t.In(1)));
    t.AllSameShape();
    t.AllSameDType();
  });
  return op;
}

void BroadcastShapes(TypeInference& t) {
  int rank = 0;
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.In(i).known_rank()) return;
    rank = std::max(rank, t.In(i).rank());
  }
  Shape out = Shape::OfRank(rank);
  for (int axis = 0; axis < rank; ++axis) {
    int64_t& extent = out[rank - 1 - axis];
    extent = 1;
    for (int i = 0; i < t.inputs(); ++i) {
      const int64_t given = FromLast(t.In(i), axis);
      const auto both = BroadcastExtent(extent, given);
      if (!t.Require(both.has_value(),
                     "C1: shapes {} and {} do not broadcast: {} and {} differ "
                     "and neither is 1",
                     ToString(t.In(0)), ToString(t.In(i)), extent, given)) {
        return;
      }
      extent = *both;
    }
  }
  t.SetOut(0, out);
}

void BroadcastTypes(TypeInference& t) {
  t.AllSameDType();
  BroadcastShapes(t);
}

Op<> BroadcastOperator(std::string name, std::string doc, BinaryFunction f) {
  Op<> op = BinaryOperator(std::move(name), std::move(doc), f);
  op.Types([](const NoAttrs&, TypeInference& t) { BroadcastTypes(t); });
  return op;
}

}  // namespace mxc
