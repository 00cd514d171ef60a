// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/shape/np_stack.h"

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

Shape PartOf(const Shape& shape, Extents (*reshaped)(Extents dims)) {
  return reshaped(shape.rank() == 0 ? Extents{1} : shape.dims());
}

void JoinedShape(TypeInference& t, const std::vector<Shape>& parts, int axis) {
  Shape out = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    Shape others = parts[i], expected = out;
    if (others.rank() == expected.rank()) others[axis] = expected[axis];
    if (!t.Require(others == expected,
                   "C1: input {} has shape {}, which does not join {} along "
                   "axis {}",
                   i, ToString(t.In(static_cast<int>(i))), ToString(parts[0]),
                   axis)) {
      return;
    }
    out[axis] += parts[i][axis];
  }
  t.SetOut(0, out);
}

}  // namespace

void NpStackAttrs::Describe(Fields& f) {
  f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
  f("dim", dim).Doc("nothing").Hint();
}

Op<NpStackAttrs> NpStackOperator(std::string name, std::string doc,
                                 Extents (*reshaped)(Extents dims),
                                 int (*axis)(int rank)) {
  Op<NpStackAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Variadic();
  op.InputsOf(
      [](const NpStackAttrs& a) { return NumberedInputs("data", a.num_args); });
  op.Types([=](const NpStackAttrs&, TypeInference& t) {
    t.AllSameDType();
    std::vector<Shape> parts;
    for (int i = 0; i < t.inputs(); ++i) {
      if (!t.In(i).known()) return;
      parts.push_back(PartOf(t.In(i), reshaped));
    }
    JoinedShape(t, parts, axis(parts[0].rank()));
  });
  op.Decompose([=](const NpStackAttrs&, const Node& node,
                   GraphBuilder& b) -> std::vector<Value> {
    std::vector<Value> parts;
    for (const Value& input : node.inputs) {
      parts.push_back(b.Reshape(input, PartOf(input.shape(), reshaped)));
    }
    if (parts.size() == 1) return {b.Op<op::Copy>(parts)};
    return {b.Concat(parts, axis(parts[0].shape().rank()))};
  });
  return op;
}

// _npi_hstack: inputs one after the other along axis 1, or axis 0 of vectors.
MXC_OP(NpiHstack) {
  return NpStackOperator(
      "_npi_hstack", "numpy.hstack", [](Extents dims) { return dims; },
      [](int rank) { return rank == 1 ? 0 : 1; });
}

// _npi_vstack: inputs one below the other: along axis 0, a vector as a row.
MXC_OP(NpiVstack) {
  return NpStackOperator(
      "_npi_vstack", "numpy.vstack",
      [](Extents dims) {
        if (dims.size() == 1) dims.insert(dims.begin(), 1);
        return dims;
      },
      [](int) { return 0; });
}

// _npi_dstack: inputs along axis 2, a vector of n as (1, n, 1), a matrix as (m,
// n, 1).
MXC_OP(NpiDstack) {
  return NpStackOperator(
      "_npi_dstack", "numpy.dstack",
      [](Extents dims) {
        if (dims.size() == 1) dims.insert(dims.begin(), 1);
        if (dims.size() == 2) dims.push_back(1);
        return dims;
      },
      [](int) { return 2; });
}

// _npi_column_stack: inputs beside each other: along axis 1, a vector as a
// column.
MXC_OP(NpiColumnStack) {
  return NpStackOperator(
      "_npi_column_stack", "numpy.column_stack",
      [](Extents dims) {
        if (dims.size() == 1) dims.push_back(1);
        return dims;
      },
      [](int) { return 1; });
}

}  // namespace mxc
