// SPDX-License-Identifier: Apache-2.0
// fuse-elementwise: a value that its readers can compute as they need it is not
// stored.
//
//   a = exp(x)          y[i] = exp(x[i]) · s[0]
//   b = a · s     ⇒     (one step, neither a nor b in memory)
//   y = b[i]
//
// The producer's expression replaces the readers' Loads. The rule: all readers
// or none, and only where the fused steps cost no more than the separate ones,
// in the measure of evaluation_cost.h, which counts an evaluation for every
// time that hoisting cannot avoid. So
//   - cheap producers go into several readers, expensive ones into one;
//   - a producer that reads more than it writes goes into one reader only, for
//     its operands would have to stay alive in its place;
//   - a statistic (a reduction over another axis than the reader's inner loops)
//     goes in, a reduction that would be repeated for every element does not;
//   - what a reader compares with what another one made of it (the elements
//   that
//     equal the maximum) does not: each could round it differently;
//   - a view goes in where its index arithmetic vanishes; where it would leave
//     divisions, the view stays, and shares bytes for nothing later.
// A producer made of boxes (Concat) splits its readers into boxes.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/sweep.h"

namespace mxc {
namespace {

constexpr int kMaxNodes = 256;     // of one fused expression
constexpr size_t kMaxStores = 64;  // of one fused step

// The value of an output of `producer`, as boxes over the output's index.
struct Produced {
  int buffer;
  std::vector<Store> boxes;
  const Step* producer;
};

double CostOf(const std::vector<Store>& stores) {
  double cost = 0;
  for (const Store& store : stores) cost += HoistedCost(store);
  return cost;
}

double CostOf(const Program& program, const Step& step) {
  if (step.map()) return CostOf(step.map()->stores);
  const Shape& shape = program.buffers[step.outputs[0]].type.shape;
  const Extents& extent = shape.dims();
  return HoistedCost(
      {0, Extents(extent.size(), 0), extent, step.contraction()->epilogue});
}

// The producer's expression with its Loads renumbered to operands of `reader`.
Expr ForReader(const Expr& value, const Step& producer, Step& reader) {
  return Rewrite(value, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::kLoad) return {};
    return Load(OperandOf(reader, producer.inputs[e->index]), e->dtype,
                e->args);
  });
}

// Replaces Loads of operand `operand` by `value` at their index. Equal indices
// give one shared expression, so that it stays one evaluation.
Expr ReplaceLoads(const Expr& e, int operand, const Expr& value) {
  std::vector<std::pair<Expr, Expr>> replaced;  // Load, replacement
  return Rewrite(e, [&](const Expr& node) -> Expr {
    if (node->kind != ExprKind::kLoad || node->index != operand) return {};
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
    const bool done = reader.map() ? IntoMap(reader) : IntoEpilogue(reader);
    if (!done) return std::nullopt;
    TidyOperands(reader);
    JoinOrigins(*produced_.producer, reader);
    return reader;
  }

 private:
  bool IntoMap(Step& reader) const {
    const int operand = OperandOf(reader, produced_.buffer);
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
    const int operand = OperandOf(reader, buffer);
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

// Elements that the producer reads from buffers that would stay alive longer;
// a vector beside a tensor (a channel's mean) does not count.
int64_t ElementsRead(const Program& program, const Step& producer,
                     int64_t written) {
  int64_t elements = 0;
  for (const int input : producer.inputs) {
    const Buffer& buffer = program.buffers[input];
    const int64_t read = buffer.type.shape.elements();
    if (buffer.kind != BufferKind::kInternal || read <= written / 16) continue;
    elements += read;
  }
  return elements;
}

Produced OutputOf(const Step& producer, int output) {
  Produced produced{producer.outputs[output], {}, &producer};
  for (const Store& store : producer.map()->stores) {
    if (store.output == output) produced.boxes.push_back(store);
  }
  return produced;
}

using Nodes = std::unordered_set<const ExprNode*>;

// Whether some node of a value, not of an index, is so.
bool AnyNode(const Expr& e, const std::function<bool(const ExprNode&)>& is,
             Nodes& seen) {
  if (!seen.insert(e.get()).second) return false;
  if (is(*e)) return true;
  if (e->kind == ExprKind::kLoad) return false;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return AnyNode(arg, is, seen); });
}
bool AnyNode(const Expr& e, const std::function<bool(const ExprNode&)>& is) {
  Nodes seen;
  return AnyNode(e, is, seen);
}

// Maxima, minima and choices of floats do not.
bool Rounds(const ExprNode& e) {
  if (!IsFloat(e.dtype)) return false;
  switch (e.kind) {
    case ExprKind::kUnary:
      return e.unary != UnaryOp::kNeg && e.unary != UnaryOp::kAbs;
    case ExprKind::kBinary:
      return e.binary != BinaryOp::kMax && e.binary != BinaryOp::kMin;
    case ExprKind::kReduce:
      return e.reduce != ReduceOp::kMax && e.reduce != ReduceOp::kMin;
    default:
      return false;
  }
}

bool IsComparison(const ExprNode& e) {
  return e.kind == ExprKind::kBinary &&
         (e.binary == BinaryOp::kEqual || e.binary == BinaryOp::kNotEqual ||
          e.binary == BinaryOp::kLess || e.binary == BinaryOp::kLessEqual);
}

// Whether the step compares the buffer's elements with other data.
bool ComparesWithOthers(const Step& step, int buffer) {
  bool compares = false;
  VisitExprs(step, [&](const Expr& e) {
    const auto is_own = [&](const ExprNode& node) {
      return node.kind == ExprKind::kLoad && step.inputs[node.index] == buffer;
    };
    compares = compares || AnyNode(e, [&](const ExprNode& node) {
                 if (!IsComparison(node)) return false;
                 const bool left = AnyNode(node.args[0], is_own);
                 const bool right = AnyNode(node.args[1], is_own);
                 return left != right && HasLoads(node.args[left ? 1 : 0]);
               });
  });
  return compares;
}

// Whether it matters that each reader sees the same bits.
bool MustAgree(const Program& program, const Produced& produced,
               const std::vector<int>& readers) {
  return readers.size() > 1 &&
         std::ranges::any_of(
             produced.boxes,
             [](const Store& box) { return AnyNode(box.value, Rounds); }) &&
         std::ranges::any_of(readers, [&](int r) {
           return ComparesWithOthers(program.steps[static_cast<size_t>(r)],
                                     produced.buffer);
         });
}

bool MayInline(const Program& program, const Produced& produced,
               const std::vector<int>& readers) {
  const Buffer& buffer = program.buffers[produced.buffer];
  if (buffer.kind != BufferKind::kInternal || readers.empty()) return false;
  if (MustAgree(program, produced, readers)) return false;
  const int64_t written = buffer.type.shape.elements();
  return readers.size() == 1 ||
         ElementsRead(program, *produced.producer, written) <= written;
}

// Inlines one output of a Map into all its readers, if that pays.
bool InlineOutput(Program& program, const Step& producer, int output) {
  const Produced produced = OutputOf(producer, output);
  const std::vector<int> readers = ReadersOf(program, produced.buffer);
  if (!MayInline(program, produced, readers)) return false;

  // A view costs nothing: it will share the bytes of what it views.
  double separate = producer.view ? 0 : CostOf(produced.boxes) + kStepCost;
  double fused = 0;
  std::vector<Step> steps;
  const Inlining inlining(program, produced);
  for (const int r : readers) {
    auto step = inlining.Into(program.steps[r]);
    if (!step) return false;
    separate += CostOf(program, program.steps[r]);
    fused += CostOf(program, *step);
    steps.push_back(std::move(*step));
  }
  if (fused > separate) return false;
  for (size_t i = 0; i < readers.size(); ++i) {
    program.steps[readers[i]] = std::move(steps[i]);
  }
  return true;
}

bool IsDead(const Program& program, const Step& step) {
  return std::ranges::all_of(step.outputs, [&](int buffer) {
    return program.buffers[buffer].kind == BufferKind::kInternal &&
           ReadersOf(program, buffer).empty();
  });
}

}  // namespace

Result<bool> FuseElementwise(Program& program, PassContext&) {
  bool changed = false;
  // Backwards: when a producer is met, its readers are as large as they get.
  for (size_t s = program.steps.size(); s-- > 0;) {
    if (program.steps[s].map() == nullptr) continue;
    const Step producer = program.steps[s];
    for (int i = static_cast<int>(producer.outputs.size()); i-- > 0;) {
      changed |= InlineOutput(program, producer, i);
    }
    // A producer that is not needed any more would count as a reader.
    if (IsDead(program, producer)) {
      program.steps.erase(program.steps.begin() +
                          static_cast<std::ptrdiff_t>(s));
      changed = true;
    }
  }
  if (changed) Sweep(program);
  return changed;
}

}  // namespace mxc
