// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/shape/np_atleast.h"

#include <algorithm>

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

Extents WithAxes(Extents dims, int least) {
  const size_t before = std::min(least, 2);
  if (dims.size() < before) dims.insert(dims.begin(), before - dims.size(), 1);
  if (least == 3 && dims.size() == 2) dims.push_back(1);
  return dims;
}

}  // namespace

void AtleastAttrs::Describe(Fields& f) {
  f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
}

Op<AtleastAttrs> AtleastOperator(std::string name, std::string doc, int least) {
  Op<AtleastAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Variadic();
  op.InputsOf(
      [](const AtleastAttrs& a) { return NumberedInputs("ary", a.num_args); });
  op.OutputsOf(
      [](const AtleastAttrs& a) { return NumberedOutputs(a.num_args); });
  op.Types([least](const AtleastAttrs&, TypeInference& t) {
    for (int i = 0; i < t.inputs(); ++i) {
      t.SetOutDType(i, t.InDType(i));
      t.SetInDType(i, t.OutDType(i));
      if (t.In(i).known()) t.SetOut(i, WithAxes(t.In(i).dims(), least));
    }
  });
  op.Decompose([](const AtleastAttrs&, const Node& node, GraphBuilder& b) {
    std::vector<Value> outputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value copy = b.Op<op::Copy>({node.inputs[i]});
      outputs.push_back(b.Reshape(copy, node.types[i].shape));
    }
    return outputs;
  });
  return op;
}

MXC_OP(NpAtleast1d) {
  return AtleastOperator("_np_atleast_1d", "numpy.atleast_1d", 1);
}

MXC_OP(NpAtleast2d) {
  return AtleastOperator("_np_atleast_2d", "numpy.atleast_2d", 2);
}

MXC_OP(NpAtleast3d) {
  return AtleastOperator("_np_atleast_3d", "numpy.atleast_3d", 3);
}

}  // namespace mxc
