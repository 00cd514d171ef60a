// SPDX-License-Identifier: Apache-2.0
// _npi_matmul: numpy.matmul of matrices, whose leading axes broadcast.
//   a [B…, M, K], b [B…, K, N] → [B…, M, N]
// C1  both have rank 2 or more (products with vectors are not supported)
// C2  the leading axes broadcast
// C3  the summed extents agree
#include <algorithm>

#include "ir/ops/op.h"
#include "ir/ops/tensor/linalg/products.h"
#include "ir/ops/tensor/shape/swap_axis.h"

namespace mxc {
namespace {

// Extent of a leading axis, counted from the last one of the output.
int64_t LeadingExtent(const Shape& shape, int from_last) {
  return from_last < shape.rank() ? shape[shape.rank() - 1 - from_last] : 1;
}

void MatmulTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known() || !t.In(1).known()) return;
  const Shape &a = t.In(0), &b = t.In(1);
  if (!t.Require(a.rank() >= 2 && b.rank() >= 2,
                 "C1: shapes {} and {}, expected at least rank 2", ToString(a),
                 ToString(b))) {
    return;
  }
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::OfRank(rank);
  for (int k = 2; k < rank; ++k) {
    const int64_t left = LeadingExtent(a, k), right = LeadingExtent(b, k);
    if (!t.Require(left == right || left == 1 || right == 1,
                   "C2: shapes {} and {} do not broadcast", ToString(a),
                   ToString(b))) {
      return;
    }
    out[rank - 1 - k] = left == 1 ? right : left;
  }
  if (!t.Require(a[a.rank() - 1] == b[b.rank() - 2],
                 "C3: a {} is summed over {} elements, b {} over {}",
                 ToString(a), a[a.rank() - 1], ToString(b), b[b.rank() - 2])) {
    return;
  }
  out[rank - 2] = a[a.rank() - 2];
  out[rank - 1] = b[b.rank() - 1];
  t.SetOut(0, out);
}

// Element (row, column) of the matrix of an input that the output's leading
// indices select.
Expr MatrixElement(const Definition& def, int input, const Expr& row,
                   const Expr& column) {
  const Shape& shape = def.InShape(input);
  const int skip = def.OutShape().rank() - shape.rank();
  std::vector<Expr> index;
  for (int axis = 0; axis < shape.rank() - 2; ++axis) {
    index.push_back(shape[axis] == 1 ? Expr(0) : Var(skip + axis));
  }
  index.push_back(row);
  index.push_back(column);
  return def.In(input, index);
}

void MatmulMeaning(const NoAttrs&, Definition& def) {
  const int rank = def.OutShape().rank();
  const Shape& a = def.InShape(0);
  def.Set(0, SumOfProducts(a[a.rank() - 1], [&](const Expr& k) {
            return std::pair(MatrixElement(def, 0, Var(rank - 2), k),
                             MatrixElement(def, 1, k, Var(rank - 1)));
          }));
}

bool MatmulBroadcasts(const Shape& left, const Shape& right) {
  if (left.rank() != right.rank()) return true;
  return !std::equal(left.dims().begin(), left.dims().end() - 2,
                     right.dims().begin());
}

// Where nothing broadcasts, the product of the older operators.
std::vector<Value> MatmulAsDot(const NoAttrs&, const Node& node,
                               GraphBuilder& b) {
  const Shape& left = node.inputs[0].shape();
  if (MatmulBroadcasts(left, node.inputs[1].shape())) return {};
  return {
      ProductOf(b, node.inputs[0], node.inputs[1], false, false, "product")};
}

std::vector<Value> MatmulGradient(const NoAttrs&, GradientBuilder& g) {
  const Shape &left = g.In(0).shape(), &right = g.In(1).shape();
  if (!MatmulBroadcasts(left, right)) {
    return ProductGradients(g, g.In(0), g.In(1), g.Head(), false, false);
  }
  const auto transposed = [&](Value v) {
    return g.Op<op::SwapAxis>({v}, {.dim1 = -2, .dim2 = -1});
  };
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) {
    gradients[0] =
        g.SumTo(g.Op<op::NpiMatmul>({g.Head(), transposed(g.In(1))}), left);
  }
  if (g.Needs(1)) {
    gradients[1] =
        g.SumTo(g.Op<op::NpiMatmul>({transposed(g.In(0)), g.Head()}), right);
  }
  return gradients;
}

}  // namespace

MXC_OP(NpiMatmul) {
  return Op<>("_npi_matmul")
      .Doc("numpy.matmul")
      .Inputs({{"a", InputKind::kData}, {"b", InputKind::kData}})
      .Types(MatmulTypes)
      .Meaning(MatmulMeaning)
      .Decompose(MatmulAsDot)
      .Gradient(MatmulGradient);
}

}  // namespace mxc
