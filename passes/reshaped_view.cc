// SPDX-License-Identifier: Apache-2.0
#include "passes/reshaped_view.h"

#include "ir/program/definition.h"
#include "ir/program/steps/map.h"
#include "passes/step_readers.h"

namespace mxc {

std::vector<Expr> IdentityIndex(int rank) {
  std::vector<Expr> index;
  for (int axis = 0; axis < rank; ++axis) index.push_back(Var(axis));
  return index;
}

std::vector<Expr> ReshapedIndex(const Shape& from, const Shape& to) {
  const Expr position = Definition::Flatten(IdentityIndex(from.rank()), from);
  std::vector<Expr> index = Definition::Unflatten(position, to);
  const IntervalOf box = BoxOf(Extents(from.rank(), 0), from.dims());
  for (Expr& e : index) e = Simplify(e, box);
  return index;
}

Step ViewStep(const Program& program, int from, int to, const Step& of) {
  const Shape& shape = program.buffers[to].type.shape;
  const TensorType& source = program.buffers[from].type;
  Step view;
  view.name = of.name;
  view.origins = of.origins;
  view.loc = of.loc;
  view.inputs = {from};
  view.outputs = {to};
  view.view = true;
  view.body = Map{
      {{.output = 0,
        .begin = Extents(shape.rank(), 0),
        .extent = shape.dims(),
        .value = Load(0, source.dtype, ReshapedIndex(shape, source.shape))}}};
  return view;
}

}  // namespace mxc
