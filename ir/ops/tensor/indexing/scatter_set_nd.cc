// SPDX-License-Identifier: Apache-2.0
// _scatter_set_nd: lhs with parts replaced that columns of indices name.
//   lhs, output  shape     rhs [I…, R…], indices [M, I…], as in scatter_nd
// C1  lhs has the shape that the attribute states
// C2  rhs has the parts that indices name
#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/scatter_nd.h"

namespace mxc {
namespace {

struct ScatterSetNdAttrs {
  Extents shape;

  void Describe(Fields& f) {
    f("shape", shape).Required().Min(1).Doc("the shape of the output");
  }
};

void ScatterSetNdTypes(const ScatterSetNdAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  t.SetInDType(1, t.OutDType(0));
  const Shape shape(attrs.shape);
  t.Require(!t.In(0).known() || t.In(0) == shape,
            "C1: lhs has shape {}, expected {}", ToString(t.In(0)),
            ToString(shape));
  t.SetIn(0, shape);
  t.SetOut(0, shape);
  const Shape &rhs = t.In(1), &indices = t.In(2);
  if (!rhs.known() || !indices.known()) return;
  t.Require(PartsFit(rhs, indices, attrs.shape),
            "C2: rhs {} at indices {} do not fill shape {}", ToString(rhs),
            ToString(indices), ToString(attrs.shape));
}

std::vector<Value> ScatterSetNdParts(const ScatterSetNdAttrs& attrs,
                                     const Node& node, GraphBuilder& b) {
  const Value lhs = node.inputs[0], rhs = node.inputs[1],
              indices = node.inputs[2];
  const auto scattered = [&](Value parts) {
    return b.Op<op::ScatterNd>({parts, indices}, {.shape = attrs.shape});
  };
  const Value there = scattered(b.Ones(rhs.type()));
  return {b.Where(there, scattered(rhs), lhs)};
}

}  // namespace

MXC_OP(ScatterSetNd) {
  return Op<ScatterSetNdAttrs>("_scatter_set_nd")
      .Alias({"_npi_scatter_set_nd"})
      .Doc("data with parts replaced that indices name")
      .Inputs({{"lhs", InputKind::kData},
               {"rhs", InputKind::kData},
               {"indices", InputKind::kData}})
      .Types(ScatterSetNdTypes)
      .Decompose(ScatterSetNdParts);
}

}  // namespace mxc
