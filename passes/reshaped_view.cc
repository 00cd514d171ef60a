// SPDX-License-Identifier: Apache-2.0
#include "passes/reshaped_view.h"

#include "ir/program/definition.h"
#include "passes/step_readers.h"

namespace mxc {

std::vector<Expr> ReshapedIndex(const Shape& from, const Shape& to) {
  const Expr position = Definition::Flatten(IdentityIndex(from.rank()), from);
  std::vector<Expr> index = Definition::Unflatten(position, to);
  const IntervalOf box = BoxOf(Extents(from.rank(), 0), from.dims());
  for (Expr& e : index) e = Simplify(e, box);
  return index;
}

Store ReshapedStore(const Store& store, const Shape& from, const Shape& to) {
  const std::vector<Expr> index = ReshapedIndex(to, from);
  Store moved = store;
  moved.begin.assign(static_cast<size_t>(to.rank()), 0);
  moved.extent = to.dims();
  moved.value =
      Simplify(SubstituteVars(store.value, [&](int var) { return index[var]; }),
               BoxOf(moved.begin, moved.extent));
  return moved;
}

std::set<int> DividedVariables(const Expr& value) {
  std::set<int> divided;
  Rewrite(value, [&](const Expr& e) -> Expr {
    const bool divides =
        e->kind == ExprKind::kBinary && !IsFloat(e->dtype) &&
        (e->binary == BinaryOp::kDiv || e->binary == BinaryOp::kMod);
    if (!divides) return {};
    for (const int var : FreeVars(e)) divided.insert(var);
    return {};
  });
  return divided;
}

Step ViewStep(const Program& program, int from, int to, const Step& of) {
  const Shape& shape = program.buffers[to].type.shape;
  const TensorType& source = program.buffers[from].type;
  Step view;
  view.name = of.name;
  view.origins = of.origins;
  view.backward = of.backward;
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
