// SPDX-License-Identifier: Apache-2.0
// _map: what its attribute says, a program of one Map step in its text form.
//   inputs …   as the program's inputs
//   outputs …  as its outputs
// C1  `program` is such a program
#include "ir/ops/tensor/control/map.h"

#include "ir/ops/tensor/control/one_step.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

std::optional<std::string> CheckMap(const OneStepAttrs& a) {
  const Program* program = a.parsed();
  if (program != nullptr && program->steps[0].map() != nullptr) {
    return std::nullopt;
  }
  return "C1: program is not one Map step";
}

void MapMeaning(const OneStepAttrs& a, Definition& def) {
  for (const Store& store : a.step().map()->stores) {
    def.Set(store.output, store.value);
  }
}

}  // namespace

std::vector<Value> MapOf(GraphBuilder& builder, std::span<const Value> operands,
                         std::span<const MapOutput> outputs,
                         std::string_view role) {
  OneStepBuilder step(operands);
  for (const MapOutput& output : outputs) step.See(output.value);
  Map map;
  std::vector<TensorType> types;
  for (const MapOutput& output : outputs) {
    const Extents& dims = output.type.shape.dims();
    map.stores.push_back({static_cast<int>(types.size()),
                          Extents(dims.size(), 0), dims,
                          Cast(step.Taken(output.value), output.type.dtype)});
    types.push_back(output.type);
  }
  return step.Finish(builder, OperatorOf<op::Map>(), "map", std::move(map),
                     types, role);
}

MXC_OP(Map) {
  return Op<OneStepAttrs>("_map")
      .Doc("tensors as kernel IR over other tensors")
      .InputsOf(OneStepInputs)
      .OutputsOf(OneStepOutputs)
      .Variadic()
      .Internal()
      .Check(CheckMap)
      .Types(OneStepTypes)
      .Meaning(MapMeaning);
}

}  // namespace mxc
