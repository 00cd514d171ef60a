// SPDX-License-Identifier: Apache-2.0
// dot: the product of two tensors over one axis of each.
//   lhs     t[a…, K], or t[K, a…] with transpose_a
//   rhs     t[K, b…], or t[b…, K] with transpose_b
//   output  t[a…, b…], or t[1] for two vectors
// C1  the extents K agree
// C2  vectors are not transposed
// C3  both have at least one axis
#include "ir/ops/tensor/linalg/dot.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/linalg/products.h"
#include "ir/ops/tensor/shape/reshape.h"
#include "ir/ops/tensor/sparse/csr_dot.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

bool BothVectors(const Shape& lhs, const Shape& rhs) {
  return lhs.rank() == 1 && rhs.rank() == 1;
}

// The axis of lhs and of rhs that is summed.
int LhsSummed(const DotAttrs& attrs, const Shape& lhs) {
  return attrs.transpose_a ? 0 : lhs.rank() - 1;
}
int RhsSummed(const DotAttrs& attrs, const Shape& rhs) {
  return attrs.transpose_b ? rhs.rank() - 1 : 0;
}

void DotTypes(const DotAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const Shape &lhs = t.In(0), &rhs = t.In(1);
  if (!lhs.known_rank() || !rhs.known_rank()) return;
  if (!t.Require(lhs.rank() > 0 && rhs.rank() > 0,
                 "C3: lhs has rank {} and rhs {}, expected at least 1",
                 lhs.rank(), rhs.rank())) {
    return;
  }
  const int a = LhsSummed(attrs, lhs), b = RhsSummed(attrs, rhs);
  const bool vectors = BothVectors(lhs, rhs);
  if (!t.Require(!lhs.known(a) || !rhs.known(b) || lhs[a] == rhs[b],
                 "C1: lhs {} is summed over {} elements, rhs {} over {}",
                 ToString(lhs), lhs[a], ToString(rhs), rhs[b]) ||
      !t.Require(!vectors || (!attrs.transpose_a && !attrs.transpose_b),
                 "C2: a vector cannot be transposed")) {
    return;
  }
  Extents dims = lhs.dims(), right = rhs.dims();
  dims.erase(dims.begin() + a);
  right.erase(right.begin() + b);
  dims.insert(dims.end(), right.begin(), right.end());
  if (vectors) dims.push_back(1);
  t.SetOut(0, Shape(dims));
}

void DotMeaning(const DotAttrs& attrs, Definition& def) {
  const Shape &lhs = def.InShape(0), &rhs = def.InShape(1);
  const int a = LhsSummed(attrs, lhs), b = RhsSummed(attrs, rhs);
  const std::vector<Expr> i = def.Indices();
  const auto split =
      BothVectors(lhs, rhs) ? i.begin() : i.begin() + (lhs.rank() - 1);
  def.Set(0, SumOfProducts(lhs[a], [&](const Expr& k) {
            std::vector<Expr> left(i.begin(), split), right(split, i.end());
            if (BothVectors(lhs, rhs)) right.clear();
            left.insert(left.begin() + a, k);
            right.insert(right.begin() + b, k);
            return std::pair(def.In(0, left), def.In(1, right));
          }));
}

// Matrices made of tensors: all axes but the summed one become one.
std::vector<Value> DotOfMatrices(const DotAttrs& attrs, const Node& node,
                                 GraphBuilder& b) {
  const Shape &lhs = node.inputs[0].shape(), &rhs = node.inputs[1].shape();
  if (BothVectors(lhs, rhs) || (lhs.rank() == 2 && rhs.rank() == 2)) return {};
  const int64_t k = lhs[LhsSummed(attrs, lhs)];
  const auto matrix = [&](Value v, bool k_first, const char* role) {
    if (v.shape().rank() == 2) return v;
    const Extents shape = k_first ? Extents{k, -1} : Extents{-1, k};
    return b.Op<op::Reshape>({v}, {.shape = shape}, role);
  };
  const Value product = b.Op<op::Dot>(
      {matrix(node.inputs[0], attrs.transpose_a, "lhs"),
       matrix(node.inputs[1], !attrs.transpose_b, "rhs")},
      {.transpose_a = attrs.transpose_a, .transpose_b = attrs.transpose_b},
      "product");
  return {b.Op<op::Reshape>({product}, {.shape = node.types[0].shape.dims()},
                            "output")};
}

std::vector<Value> DotGradient(const DotAttrs& attrs, GradientBuilder& g) {
  const Shape &lhs = g.In(0).shape(), &rhs = g.In(1).shape();
  const int64_t k = lhs[LhsSummed(attrs, lhs)];
  const int64_t rows = lhs.elements() / k, columns = rhs.elements() / k;
  const auto matrix = [](bool k_first, int64_t extent, int64_t others) {
    return k_first ? Shape{extent, others} : Shape{others, extent};
  };
  std::vector<Value> gradients = ProductGradients(
      g, g.Reshape(g.In(0), matrix(attrs.transpose_a, k, rows)),
      g.Reshape(g.In(1), matrix(!attrs.transpose_b, k, columns)),
      g.Reshape(g.Head(), Shape{rows, columns}), attrs.transpose_a,
      attrs.transpose_b);
  for (int i = 0; i < 2; ++i) {
    if (gradients[i]) gradients[i] = g.Reshape(gradients[i], g.In(i).shape());
  }
  return gradients;
}

Value DotOfCsr(const DotAttrs& attrs, const Node& node, const CsrForm& data,
               GraphBuilder& b) {
  const Value rhs = node.inputs[1];
  if (rhs.shape().rank() != 2 || attrs.transpose_b) return {};
  return attrs.transpose_a ? CsrScatterOf(b, data, rhs)
                           : CsrDotOf(b, data, rhs);
}

std::optional<Contraction> DotContraction(const DotAttrs& attrs,
                                          const Definition& def) {
  if (def.InShape(0).rank() != 2 || def.InShape(1).rank() != 2) {
    return std::nullopt;
  }
  return MatrixContraction(def, attrs.transpose_a, attrs.transpose_b);
}

}  // namespace

MXC_OP(Dot) {
  return Op<DotAttrs>("dot")
      .Doc("the product of two tensors over one axis of each")
      .Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}})
      .Types(DotTypes)
      .Meaning(DotMeaning)
      .Decompose(DotOfMatrices)
      .OfCsr(DotOfCsr)
      .AsContraction(DotContraction)
      .Gradient(DotGradient);
}

}  // namespace mxc
