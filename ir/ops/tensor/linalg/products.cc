// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/linalg/products.h"

#include "ir/ops/tensor/linalg/batch_dot.h"
#include "ir/ops/tensor/linalg/dot.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

Expr SumOfProducts(
    const Expr& extent,
    const std::function<std::pair<Expr, Expr>(const Expr& k)>& factors) {
  return Definition::Sum({extent}, [&](const std::vector<Expr>& r) {
    const auto [a, b] = factors(r[0]);
    const DType wide = AccumulateType(a->dtype);
    return Cast(a, wide) * Cast(b, wide);
  });
}

Contraction MatrixContraction(const Definition& def, bool transpose_a,
                              bool transpose_b) {
  const int rank = def.OutShape().rank();
  const Shape& lhs = def.InShape(0);
  Contraction c;
  c.batch = def.OutShape()[rank - 2];
  c.in = lhs[transpose_a ? rank - 2 : rank - 1];
  c.out = def.OutShape()[rank - 1];
  if (rank == 3) {
    c.groups = def.OutShape()[0];
    c.data_axes = c.weight_axes = c.output_axes = {Role::kGroup};
  }
  const auto append = [](std::vector<Role>& axes, Role first, Role second,
                         bool exchanged) {
    axes.push_back(exchanged ? second : first);
    axes.push_back(exchanged ? first : second);
  };
  append(c.data_axes, Role::kBatch, Role::kIn, transpose_a);
  append(c.weight_axes, Role::kIn, Role::kOut, transpose_b);
  append(c.output_axes, Role::kBatch, Role::kOut, false);
  return c;
}

Value ProductOf(GraphBuilder& b, Value left, Value right, bool transpose_left,
                bool transpose_right, std::string_view role) {
  if (left.shape().rank() == 2) {
    return b.Op<op::Dot>(
        {left, right},
        {.transpose_a = transpose_left, .transpose_b = transpose_right}, role);
  }
  return b.Op<op::BatchDot>(
      {left, right},
      {.transpose_a = transpose_left, .transpose_b = transpose_right}, role);
}

std::vector<Value> ProductGradients(GradientBuilder& g, Value a, Value b,
                                    Value head, bool transpose_a,
                                    bool transpose_b) {
  const auto times = [&](Value x, Value y, bool transpose_x, bool transpose_y,
                         const char* role) {
    return ProductOf(g, x, y, transpose_x, transpose_y, role);
  };
  std::vector<Value> gradients(2);
  if (g.Needs(0)) {
    gradients[0] = transpose_a ? times(b, head, transpose_b, true, "lhs")
                               : times(head, b, false, !transpose_b, "lhs");
  }
  if (g.Needs(1)) {
    gradients[1] = transpose_b ? times(head, a, true, transpose_a, "rhs")
                               : times(a, head, !transpose_a, false, "rhs");
  }
  return gradients;
}

void MatrixProductTypes(TypeInference& t, bool transpose_a, bool transpose_b,
                        int least_rank) {
  const Shape &lhs = t.In(0), &rhs = t.In(1);
  if (!lhs.known_rank() || !rhs.known_rank()) return;
  const int rank = lhs.rank();
  if (!t.Require(rhs.rank() == rank && rank >= least_rank,
                 "C1: shapes {} and {}, expected one rank, at least {}",
                 ToString(lhs), ToString(rhs), least_rank)) {
    return;
  }
  Shape out = lhs;
  for (int axis = 0; axis < rank - 2; ++axis) {
    if (!t.Require(
            !lhs.known(axis) || !rhs.known(axis) || lhs[axis] == rhs[axis],
            "C2: shapes {} and {} differ in axis {}", ToString(lhs),
            ToString(rhs), axis)) {
      return;
    }
    out[axis] = lhs.known(axis) ? lhs[axis] : rhs[axis];
  }
  const int64_t left = lhs[transpose_a ? rank - 2 : rank - 1];
  const int64_t right = rhs[transpose_b ? rank - 1 : rank - 2];
  if (!t.Require(left == right || left == Shape::kUnknownDim ||
                     right == Shape::kUnknownDim,
                 "C3: lhs {} is summed over {} elements, rhs {} over {}",
                 ToString(lhs), left, ToString(rhs), right)) {
    return;
  }
  out[rank - 2] = lhs[transpose_a ? rank - 1 : rank - 2];
  out[rank - 1] = rhs[transpose_b ? rank - 2 : rank - 1];
  t.SetOut(0, out);
}

}  // namespace mxc
