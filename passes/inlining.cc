// SPDX-License-Identifier: Apache-2.0
#include "passes/inlining.h"

#include <algorithm>
#include <utility>

#include "ir/program/steps/contraction.h"
#include "passes/evaluation_cost.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

constexpr int kMaxNodes = 256;     // of one fused expression
constexpr size_t kMaxStores = 64;  // of one fused step

Expr LoadAs(const Expr& load, int operand) {
  return load->index == operand ? Expr()
                                : Load(operand, load->dtype, load->args);
}

// The producer's expression with its Loads renumbered to operands of `reader`.
Expr ForReader(const Expr& value, const Step& producer, Step& reader) {
  return Rewrite(value, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::kLoad) return {};
    return LoadAs(e, OperandOf(reader, producer.inputs[e->index]));
  });
}

// Takes `buffer`, which is among the operands that follow the fixed ones, from
// the list; gives the number that it had.
int TakeOperand(Step& step, int buffer) {
  const int operand = OperandOf(step, buffer);
  step.inputs.erase(step.inputs.begin() + operand);
  return operand;
}

// Replaces Loads of what was operand `operand` by `value` at their index; the
// others were renumbered when it was taken. Equal indices give one shared
// expression, so that it stays one evaluation.
Expr ReplaceLoads(const Expr& e, int operand, const Expr& value) {
  std::vector<std::pair<Expr, Expr>> replaced;  // Load, replacement
  return Rewrite(e, [&](const Expr& node) -> Expr {
    if (node->kind != ExprKind::kLoad) return {};
    if (node->index > operand) return LoadAs(node, node->index - 1);
    if (node->index < operand) return {};
    for (const auto& [load, replacement] : replaced) {
      if (Equal(load, node)) return replacement;
    }
    Expr replacement =
        SubstituteVars(value, [&](int var) { return node->args[var]; });
    replaced.emplace_back(node, replacement);
    return replacement;
  });
}

// The offset of each axis if all Loads of the operand are at the reader's own
// index plus constants.
std::optional<Extents> Translation(const Expr& e, int operand) {
  std::optional<Extents> offsets;
  bool uniform = true;
  VisitLoads(e, [&](const ExprNode& load) {
    if (load.index != operand) return;
    Extents own;
    for (size_t axis = 0; axis < load.args.size(); ++axis) {
      const Expr& index = load.args[axis];
      const bool sum = index->kind == ExprKind::kBinary &&
                       index->binary == BinaryOp::kAdd &&
                       index->args[1]->kind == ExprKind::kConst;
      const Expr& var = sum ? index->args[0] : index;
      if (var->kind != ExprKind::kVar || var->index != static_cast<int>(axis)) {
        uniform = false;
        return;
      }
      own.push_back(sum ? static_cast<int64_t>(index->args[1]->number) : 0);
    }
    uniform = uniform && (!offsets || *offsets == own);
    offsets = own;
  });
  return uniform ? offsets : std::nullopt;
}

// The part of `store` whose Loads, moved by `offsets`, fall into `box`.
std::optional<Store> Intersect(const Store& store, const Extents& offsets,
                               const Store& box) {
  Store part = store;
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    const int64_t low =
        std::max(store.begin[axis], box.begin[axis] - offsets[axis]);
    const int64_t high =
        std::min(store.begin[axis] + store.extent[axis],
                 box.begin[axis] + box.extent[axis] - offsets[axis]);
    if (low >= high) return std::nullopt;
    part.begin[axis] = low;
    part.extent[axis] = high - low;
  }
  return part;
}

class Inlining {
 public:
  Inlining(const Program& program, const Produced& produced)
      : program_(program), produced_(produced) {}

  // The reader without Loads of the produced buffer; nullopt if it cannot be.
  std::optional<Step> Into(const Step& original) const {
    if (original.view) return std::nullopt;
    Step reader = original;
    const bool done = reader.map()           ? IntoMap(reader)
                      : reader.contraction() ? IntoEpilogue(reader)
                                             : false;
    if (!done) return std::nullopt;
    TidyOperands(reader);
    return reader;
  }

 private:
  bool IntoMap(Step& reader) const {
    const int operand = TakeOperand(reader, produced_.buffer);
    std::vector<Expr> values;
    for (const Store& box : produced_.boxes) {
      values.push_back(ForReader(box.value, *produced_.producer, reader));
    }
    std::vector<Store> stores;
    for (const Store& store : reader.map()->stores) {
      if (!AddParts(store, operand, values, stores)) return false;
    }
    if (stores.size() > kMaxStores) return false;
    reader.map()->stores = std::move(stores);
    return true;
  }

  // `store` as one part for each box that its Loads meet.
  bool AddParts(const Store& store, int operand,
                const std::vector<Expr>& values,
                std::vector<Store>& stores) const {
    if (values.size() == 1) {
      stores.push_back(store);
      return Fuse(stores.back(), operand, values[0]);
    }
    bool loads = false;
    VisitLoads(store.value, [&](const ExprNode& load) {
      loads = loads || load.index == operand;
    });
    if (!loads) {
      stores.push_back(store);
      stores.back().value = ReplaceLoads(store.value, operand, {});
      return true;
    }
    const auto offsets = Translation(store.value, operand);
    if (!offsets || offsets->size() != store.begin.size()) return false;
    for (size_t i = 0; i < values.size(); ++i) {
      auto part = Intersect(store, *offsets, produced_.boxes[i]);
      if (!part) continue;
      if (!Fuse(*part, operand, values[i])) return false;
      stores.push_back(std::move(*part));
    }
    return true;
  }

  static bool Fuse(Store& store, int operand, const Expr& value) {
    store.value = Simplify(ReplaceLoads(store.value, operand, value),
                           BoxOf(store.begin, store.extent));
    return CountNodes(store.value) <= kMaxNodes &&
           TreeSize(store.value) <= kMaxTreeSize;
  }

  bool IntoEpilogue(Step& reader) const {
    const int buffer = produced_.buffer;
    if (reader.inputs[0] == buffer || reader.inputs[1] == buffer) return false;
    if (produced_.boxes.size() != 1) return false;
    const Expr& produced = produced_.boxes[0].value;
    if (HasReduce(produced)) return false;
    const int operand = TakeOperand(reader, buffer);
    const Expr value = ForReader(produced, *produced_.producer, reader);
    const Shape& shape = program_.buffers[reader.outputs[0]].type.shape;
    Store whole{0, Extents(shape.dims().size(), 0), shape.dims(),
                reader.contraction()->epilogue};
    if (!Fuse(whole, operand, value)) return false;
    reader.contraction()->epilogue = whole.value;
    return true;
  }

  const Program& program_;
  const Produced& produced_;
};

}  // namespace

std::vector<Produced> OutputsOf(const Step& producer) {
  std::vector<Produced> outputs;
  for (const int buffer : producer.outputs) {
    outputs.push_back({buffer, {}, &producer});
  }
  for (const Store& store : producer.map()->stores) {
    outputs[store.output].boxes.push_back(store);
  }
  return outputs;
}

std::optional<Step> Inlined(const Program& program, const Produced& produced,
                            const Step& reader) {
  return Inlining(program, produced).Into(reader);
}

}  // namespace mxc
