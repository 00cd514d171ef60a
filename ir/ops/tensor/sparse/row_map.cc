// SPDX-License-Identifier: Apache-2.0
// _row_map: what its attribute says, a program of one RowUpdate step in its text
// form.
//   inputs …   as the program's inputs
//   outputs …  as its outputs
// C1  `program` is such a program
#include "ir/ops/tensor/sparse/row_map.h"

#include "ir/ops/tensor/control/one_step.h"
#include "ir/program/steps/row_update.h"

namespace mxc {
namespace {

std::optional<std::string> CheckRowMap(const OneStepAttrs& a) {
  const Program* program = a.parsed();
  if (program != nullptr && program->steps[0].body.As<RowUpdate>() != nullptr) {
    return std::nullopt;
  }
  return "C1: program is not one update of rows";
}

}  // namespace

std::vector<Value> RowMapOf(GraphBuilder& builder,
                            std::span<const Value> operands, Value rows,
                            std::span<const RowMapOutput> outputs,
                            std::string_view role) {
  std::vector<Value> all(operands.begin(), operands.end());
  all.push_back(rows);
  const TensorType& type = all[static_cast<size_t>(outputs[0].keep)].type();
  const int rank = type.shape.rank();
  const std::vector<Expr> own = IdentityIndex(rank);
  OneStepBuilder step(all);
  const Expr row =
      Load(static_cast<int>(operands.size()), rows.type().dtype, {Var(rank)});
  step.See(row);
  std::vector<RowUpdate::Change> changes;
  std::vector<TensorType> types;
  for (const RowMapOutput& output : outputs) {
    const TensorType& kept = all[static_cast<size_t>(output.keep)].type();
    changes.push_back(
        {Load(output.keep, kept.dtype, own), Cast(output.next, kept.dtype)});
    types.push_back(kept);
    step.See(changes.back().keep);
    step.See(changes.back().next);
  }
  RowUpdate update;
  update.slots = rows.shape()[0];
  update.row = Cast(step.Taken(row), DType::kI64);
  for (const RowUpdate::Change& change : changes) {
    update.changes.push_back(
        {step.Taken(change.keep), step.Taken(change.next)});
  }
  return step.Finish(builder, OperatorOf<op::RowMap>(), "rows",
                     std::move(update), types, role);
}

MXC_OP(RowMap) {
  return Op<OneStepAttrs>("_row_map")
      .Doc("tensors of which the rows that data name become others")
      .InputsOf(OneStepInputs)
      .OutputsOf(OneStepOutputs)
      .Variadic()
      .Internal()
      .Check(CheckRowMap)
      .Types(OneStepTypes)
      .AsStep([](const OneStepAttrs& a) { return a.step().body; });
}

}  // namespace mxc
