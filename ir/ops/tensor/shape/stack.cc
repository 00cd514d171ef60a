// SPDX-License-Identifier: Apache-2.0
// stack: inputs of one shape along a new axis of the output.
// C1  -rank - 1 ≤ axis ≤ rank of the inputs
// C2  the inputs have one shape
#include "ir/ops/tensor/shape/stack.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void StackTypes(const StackAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  Shape part;
  for (int i = 0; i < t.inputs() && !part.known_rank(); ++i) part = t.In(i);
  if (t.Out(0).known_rank()) {
    const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.Out(0).rank());
    if (!axis) return;
    Extents dims = t.Out(0).dims();
    dims.erase(dims.begin() + *axis);
    if (!part.known_rank()) part = Shape(dims);
  }
  if (!part.known_rank()) return;
  for (int i = 0; i < t.inputs(); ++i) {
    t.Require(!t.In(i).known() || !part.known() || t.In(i) == part,
              "C2: input {} has shape {}, expected {}", i, ToString(t.In(i)),
              ToString(part));
    t.SetIn(i, part);
  }
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, part.rank() + 1);
  if (!axis) return;
  Extents dims = t.In(0).dims();
  dims.insert(dims.begin() + *axis, t.inputs());
  t.SetOut(0, Shape(dims));
}

void StackMeaning(const StackAttrs& attrs, Definition& def) {
  const int axis = *ResolveAxis(attrs.axis, def.OutShape().rank());
  std::vector<Expr> index = def.Indices();
  index.erase(index.begin() + axis);
  Extents begin(def.OutShape().rank(), 0), extent = def.OutShape().dims();
  extent[axis] = 1;
  for (int i = 0; i < def.inputs(); ++i) {
    begin[axis] = i;
    def.SetBox(0, begin, extent, def.In(i, index));
  }
}

std::vector<Value> StackGradient(const StackAttrs& attrs, GradientBuilder& g) {
  const int axis = *ResolveAxis(attrs.axis, g.Out().shape().rank());
  std::vector<Value> gradients = g.None();
  for (int i = 0; i < g.inputs(); ++i) {
    if (!g.Needs(i)) continue;
    gradients[i] =
        g.Reshape(g.SliceAxis(g.Head(), axis, i, i + 1), g.In(i).shape());
  }
  return gradients;
}

}  // namespace

MXC_OP(Stack) {
  return Op<StackAttrs>("stack")
      .Alias({"_npi_stack"})
      .Doc("joins inputs of one shape along a new axis")
      .Variadic()
      .InputsOf(
          [](const StackAttrs& a) { return NumberedInputs("arg", a.num_args); })
      .Types(StackTypes)
      .Meaning(StackMeaning)
      .Gradient(StackGradient);
}

}  // namespace mxc
