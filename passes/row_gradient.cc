// SPDX-License-Identifier: Apache-2.0
#include "passes/row_gradient.h"

#include <map>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/control/map.h"
#include "ir/ops/tensor/sort/order.h"
#include "ir/program/expr.h"

namespace mxc {
namespace {

constexpr int kMostDepth = 64;  // of operators in each other

// Finds the form of each value once: operators that read one value several times
// would else double the work at every step.
class FormFinder {
 public:
  explicit FormFinder(Graph& graph) : graph_(graph) {}

  RowForm Of(Value value, int depth) {
    const Node& node = *value.node;
    if (node.op == nullptr || !node.op->row_form || depth > kMostDepth) {
      return {};
    }
    const std::pair key(node.id(), value.index);
    if (const auto known = known_.find(key); known != known_.end()) {
      return known->second;
    }
    std::vector<RowForm> inputs;
    for (const Value& input : node.inputs) {
      inputs.push_back(Of(input, depth + 1));
    }
    GraphBuilder builder(graph_, node);
    return known_[key] =
               node.op->row_form(node.attrs.get(), node, inputs, builder);
  }

 private:
  Graph& graph_;
  std::map<std::pair<int, int>, RowForm> known_;  // by node and output
};

// gradient[k, …] = Σ rows[order[r], …] over begins[k] ≤ r < begins[k + 1]
Value SumOfSlots(GraphBuilder& builder, Value rows, Value order, Value begins) {
  const Value operands[] = {rows, order, begins};
  const DType dtype = rows.type().dtype, sum_type = AccumulateType(dtype);
  const auto begin = [&](const Expr& slot) {
    return Load(2, DType::kI64, {slot});
  };
  const Range range = {FreshReductionVar(), begin(Var(0)), begin(Var(0) + 1)};
  std::vector<Expr> index = {
      Cast(Load(1, DType::kI32, {Var(range.var)}), DType::kI64)};
  for (int axis = 1; axis < rows.shape().rank(); ++axis) {
    index.push_back(Var(axis));
  }
  const MapOutput output = {
      rows.type(),
      Reduce(ReduceOp::kSum, {range}, Cast(Load(0, dtype, index), sum_type))};
  return MapOf(builder, operands, {&output, 1}, "row_gradient")[0];
}

struct Slots {
  Value rows, order, begins;
};

Slots SlotsOf(GraphBuilder& builder, Value numbers) {
  const int64_t count = numbers.shape()[0];
  const Value order = builder.Op<op::RadixOrder>(
      {numbers}, {.axis = 0, .is_ascend = true, .k = count}, "row_order");
  const std::vector<Value> slots =
      builder.Ops<op::RowSlots>({numbers, order}, "row_slots");
  return {slots[0], order, slots[1]};
}

}  // namespace

RowForm RowFormOf(Graph& graph, Value gradient) {
  return FormFinder(graph).Of(gradient, 0);
}

RowGradient SummedRows(Graph& graph, const Node& parameter,
                       const RowForm& form) {
  GraphBuilder builder(graph, parameter);
  const Slots slots = SlotsOf(builder, form.numbers);
  return {slots.rows,
          SumOfSlots(builder, form.rows, slots.order, slots.begins)};
}

RowGradient PickedRows(Graph& graph, const Node& parameter, Value gradient,
                       Value numbers) {
  GraphBuilder builder(graph, parameter);
  const Value rows = SlotsOf(builder, numbers).rows;
  const Value operands[] = {gradient, rows};
  const DType dtype = gradient.type().dtype;
  Extents dims = gradient.shape().dims();
  const Expr row = Load(1, DType::kI64, {Var(0)});
  std::vector<Expr> index = {Max(Min(row, dims[0] - 1), 0)};
  for (int axis = 1; axis < gradient.shape().rank(); ++axis) {
    index.push_back(Var(axis));
  }
  dims[0] = rows.shape()[0];
  const MapOutput output = {{dtype, Shape(dims)}, Load(0, dtype, index)};
  return {rows, MapOf(builder, operands, {&output, 1}, "row_gradient")[0]};
}

}  // namespace mxc
