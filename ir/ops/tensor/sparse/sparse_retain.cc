// SPDX-License-Identifier: Apache-2.0
// _sparse_retain: the rows of data that indices name; the others are 0.
//   data     t[R, …]
//   indices  [m]: clipped to the rows
// MXNet has it for sparse rows alone; ours are dense.
// C1  data has an axis, and indices one
#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/scatter_nd.h"

namespace mxc {
namespace {

void SparseRetainTypes(const NoAttrs&, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  if (!t.In(0).known_rank() || !t.In(1).known_rank()) return;
  t.Require(t.In(0).rank() > 0 && t.In(1).rank() == 1,
            "C1: data has shape {} and indices {}", ToString(t.In(0)),
            ToString(t.In(1)));
}

std::vector<Value> SparseRetainParts(const NoAttrs&, const Node& node,
                                     GraphBuilder& b) {
  const Value data = node.inputs[0], indices = node.inputs[1];
  const int64_t rows = data.shape()[0], named = indices.shape()[0];
  const Value ones = b.Ones({DType::kF32, Shape{named}});
  const Value retained = b.Op<op::ScatterNd>(
      {ones, b.Reshape(indices, Shape{1, named})}, {.shape = {rows}});
  Extents along(static_cast<size_t>(data.shape().rank()), 1);
  along[0] = rows;
  const Value zero =
      b.Zeros({data.type().dtype, Shape(Extents(along.size(), 1))});
  return {b.Op<op::NpiWhere>({b.Reshape(retained, Shape(along)), data, zero})};
}

}  // namespace

MXC_OP(SparseRetain) {
  return Op<>("_sparse_retain")
      .Doc("the rows that indices name, the others 0")
      .Inputs({{"data"}, {"indices"}})
      .Types(SparseRetainTypes)
      .Decompose(SparseRetainParts);
}

}  // namespace mxc
