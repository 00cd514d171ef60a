// SPDX-License-Identifier: Apache-2.0
// _npi_tensorsolve: x with Σ a[i…, j…] · x[j…] = b[i…], after the axes a_axes of
// a were moved to its end.
//   a  f[B…, X…]     b  f[…]     x  f[X…]
// X are a's last rank(a) − rank(b) axes; as NumPy 1 has it, all where this is 0, and
// those behind the first rank(b) − rank(a) where b has more axes.
// C1  axes are in range and distinct
// C2  B, X and b have as many elements, at most kMostUnrolled
#include <algorithm>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiTensorsolveAttrs {
  Extents a_axes;

  void Describe(Fields& f) {
    f("a_axes", a_axes).Doc("the axes that are moved to the end");
  }
};

// The axes of a, those that are moved behind the others.
std::optional<Extents> TensorsolveOrder(const NpiTensorsolveAttrs& attrs,
                                        int rank) {
  Extents moved;
  for (const int64_t axis : attrs.a_axes) {
    const auto resolved = ResolveAxis(axis, rank);
    if (!resolved || std::ranges::count(moved, *resolved) > 0) {
      return std::nullopt;
    }
    moved.push_back(*resolved);
  }
  Extents order;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::count(moved, axis) == 0) order.push_back(axis);
  }
  order.insert(order.end(), moved.begin(), moved.end());
  return order;
}

int FirstUnknown(int a_rank, int b_rank) {
  if (b_rank < a_rank) return b_rank;
  return std::min(b_rank - a_rank, a_rank);
}

void NpiTensorsolveTypes(const NpiTensorsolveAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const Shape &a = t.In(0), &b = t.In(1);
  if (!a.known() || !b.known()) return;
  const auto order = TensorsolveOrder(attrs, a.rank());
  if (!t.Require(order.has_value(), "C1: a_axes are {}, a has rank {}",
                 ToString(attrs.a_axes), a.rank())) {
    return;
  }
  Extents dims;
  for (const int64_t axis : *order) dims.push_back(a[static_cast<int>(axis)]);
  const Shape unknown(
      Extents(dims.begin() + FirstUnknown(a.rank(), b.rank()), dims.end()));
  const int64_t n = b.elements();
  const bool fits =
      n <= kMostUnrolled && unknown.elements() == n && a.elements() == n * n;
  if (t.Require(fits, "C2: a has shape {}, b {}", ToString(a), ToString(b))) {
    t.SetOut(0, unknown);
  }
}

std::vector<Value> NpiTensorsolveParts(const NpiTensorsolveAttrs& attrs,
                                       const Node& node, GraphBuilder& b) {
  const Value a = node.inputs[0], right = node.inputs[1];
  const int64_t n = right.shape().elements();
  const Value moved =
      Transposed(b, a, *TensorsolveOrder(attrs, a.shape().rank()));
  const Value solved =
      b.Op<op::NpiSolve>({b.Reshape(moved, Shape{n, n}), Flattened(b, right)});
  return {b.Reshape(solved, node.types[0].shape)};
}

}  // namespace

MXC_OP(NpiTensorsolve) {
  return Op<NpiTensorsolveAttrs>("_npi_tensorsolve")
      .Doc("numpy.linalg.tensorsolve")
      .Inputs({{"a", InputKind::kData}, {"b", InputKind::kData}})
      .Types(NpiTensorsolveTypes)
      .FloatsOnly()
      .Decompose(NpiTensorsolveParts);
}

}  // namespace mxc
