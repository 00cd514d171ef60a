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
//     its operands would have to stay alive in its place, and a small piece of
//     something large only where nothing else is waited for;
//   - a statistic (a reduction over another axis than the reader's inner loops)
//     goes in, a reduction that would be repeated for every element does not;
//   - what a reader compares with what another one made of it (the elements
//     that equal the maximum) does not: each could round it differently;
//   - a view goes in where its index arithmetic vanishes; where it would leave
//     divisions, the view stays, and shares bytes for nothing later.
// A producer made of boxes (Concat) splits its readers into boxes.
#include <algorithm>
#include <functional>
#include <set>

#include "ir/program/expr_table.h"
#include "ir/program/in_place.h"
#include "ir/program/steps/contraction.h"
#include "passes/dead_code.h"
#include "passes/evaluation_cost.h"
#include "passes/inlining.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

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

// Returns whether some node of a value, not of an index, is so.
bool AnyNode(const Expr& e, const std::function<bool(const ExprNode&)>& is,
             ExprSet& seen) {
  if (!seen.Insert(e.get())) return false;
  if (is(*e)) return true;
  if (e->kind == ExprKind::kLoad) return false;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return AnyNode(arg, is, seen); });
}
bool AnyNode(const Expr& e, const std::function<bool(const ExprNode&)>& is) {
  ExprSet seen;
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

// Returns whether the step compares the buffer's elements with other data.
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

// Returns whether it matters that each reader sees the same bits.
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

// Returns whether it is a small piece of something large, which the reader
// would keep alive until its other operands are there.
bool IsPieceOfMuch(const Program& program, const Produced& produced,
                   const Step& reader) {
  constexpr int64_t kMuch = 16, kManyElements = 1 << 16;
  const int64_t written =
      program.buffers[produced.buffer].type.shape.elements();
  const int64_t read = ElementsRead(program, *produced.producer, written);
  return reader.inputs.size() > 1 && read >= kMuch * written &&
         read >= kManyElements &&
         std::ranges::all_of(produced.boxes, [](const Store& box) {
           return MatchBoxCopy(box).has_value();
         });
}

bool MayInline(const Program& program, const Produced& produced,
               const std::vector<int>& readers) {
  const Buffer& buffer = program.buffers[produced.buffer];
  if (buffer.kind != BufferKind::kInternal || readers.empty()) return false;
  if (MustAgree(program, produced, readers)) return false;
  const int64_t written = buffer.type.shape.elements();
  if (readers.size() == 1) {
    return !IsPieceOfMuch(program, produced, program.steps[readers[0]]);
  }
  return ElementsRead(program, *produced.producer, written) <= written;
}

// Element by element of one box: nothing is evaluated more often than before,
// and the value is neither written nor read.
bool IsPointwise(const Produced& produced, const Step& reader) {
  if (produced.producer->view || produced.boxes.size() != 1) return false;
  const Map* map = reader.map();
  if (map == nullptr || map->stores.size() != 1) return false;
  const Store &box = produced.boxes[0], &store = map->stores[0];
  if (box.begin != store.begin || box.extent != store.extent) return false;
  bool identity = true;
  VisitLoads(store.value, [&](const ExprNode& load) {
    const bool own = reader.inputs[load.index] == produced.buffer;
    identity = identity && (!own || IsIdentityIndex(load.args));
  });
  return identity && !HasReduce(box.value) && !HasReduce(store.value);
}

// Returns whether a micro-batch's values would be there until another one has
// run, only for their sums to be taken then.
bool KeepsPart(const Produced& produced, const Step& reader) {
  const int part = produced.producer->part;
  return part >= 0 && part != reader.part &&
         std::ranges::any_of(produced.boxes, [](const Store& box) {
           return HasReduce(box.value);
         });
}

class ElementwiseFusion {
 public:
  ElementwiseFusion(Program& program, const Machine& machine)
      : program_(program),
        step_cost_(StepCost(machine)),
        uses_(program),
        absorbed_(program.steps.size()) {
    // Steps are copied again and again; what they come from is not.
    for (Step& step : program.steps) {
      numbers_.push_back(IsNumber(step));
      origins_.push_back(std::move(step.origins));
      names_.push_back(std::move(step.name));
    }
  }

  bool Run() {
    bool changed = false;
    // Backwards: when a producer is met, its readers are as large as they get.
    for (size_t s = program_.steps.size(); s-- > 0;) {
      if (program_.steps[s].map() == nullptr) continue;
      const Step producer = program_.steps[s];
      const std::vector<Produced> outputs = OutputsOf(producer);
      for (size_t i = outputs.size(); i-- > 0;) {
        changed |= InlineOutput(static_cast<int>(s), outputs[i]);
      }
      // A producer that is not needed any more would count as a reader.
      if (IsDead(producer)) {
        uses_.Remove(static_cast<int>(s));
        changed = true;
      }
    }
    Name();
    if (changed) uses_.Close();
    return changed;
  }

 private:
  // Inlines an output of the Map at `place` into all its readers, if that pays.
  bool InlineOutput(int place, const Produced& produced) {
    const std::set<int>& found = uses_.ReadersOf(produced.buffer);
    const std::vector<int> readers(found.begin(), found.end());
    if (!MayInline(program_, produced, readers)) return false;

    std::vector<Step> steps;
    for (const int r : readers) {
      if (KeepsPart(produced, program_.steps[r])) return false;
      auto step = Inlined(program_, produced, program_.steps[r]);
      if (!step) return false;
      steps.push_back(std::move(*step));
    }
    if (!Pays(produced, readers, steps)) return false;
    for (size_t k = 0; k < readers.size(); ++k) {
      uses_.Replace(readers[k], std::move(steps[k]));
      absorbed_[readers[k]].push_back(place);
    }
    return true;
  }

  // Returns whether the readers cost no more as `steps`.
  bool Pays(const Produced& produced, const std::vector<int>& readers,
            const std::vector<Step>& steps) const {
    if (readers.size() == 1 &&
        IsPointwise(produced, program_.steps[readers[0]])) {
      return true;
    }
    // A view costs nothing: it will share the bytes of what it views.
    double separate =
        produced.producer->view ? 0 : CostOf(produced.boxes) + step_cost_;
    double fused = 0;
    for (size_t k = 0; k < readers.size(); ++k) {
      separate += CostOf(program_, program_.steps[readers[k]]);
      fused += CostOf(program_, steps[k]);
    }
    return fused <= separate;
  }

  bool IsDead(const Step& step) const {
    return std::ranges::all_of(step.outputs, [&](int buffer) {
      return program_.buffers[buffer].kind == BufferKind::kInternal &&
             uses_.ReadersOf(buffer).empty();
    });
  }

  // Returns whether the step makes but single numbers.
  bool IsNumber(const Step& step) const {
    return std::ranges::all_of(step.outputs, [&](int b) {
      return program_.buffers[b].type.shape.elements() == 1;
    });
  }

  // The step that was absorbed last ran first. A number that many steps read, such as a
  // rate, says nothing about where they come from.
  void Name() {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Step& step = program_.steps[s];
      if (StepUses::IsEmptyPlace(step)) continue;
      if (!numbers_[s]) {
        std::erase_if(absorbed_[s], [&](int a) { return numbers_[a]; });
      }
      if (absorbed_[s].empty()) {
        step.origins = origins_[s];
        step.name = names_[s];
        continue;
      }
      std::vector<const std::vector<std::string>*> lists;
      for (size_t k = absorbed_[s].size(); k-- > 0;) {
        lists.push_back(&origins_[absorbed_[s][k]]);
      }
      lists.push_back(&origins_[s]);
      SetOrigins(lists, step);
    }
  }

  Program& program_;
  const double step_cost_;
  StepUses uses_;
  // By step: where it came from, its name, and what it absorbed, in order;
  // whether it makes but single numbers.
  std::vector<std::vector<std::string>> origins_;
  std::vector<std::string> names_;
  std::vector<std::vector<int>> absorbed_;
  std::vector<bool> numbers_;
};

}  // namespace

Result<bool> FuseElementwise(Program& program, PassContext& context) {
  if (!ElementwiseFusion(program, context.machine()).Run()) return false;
  RemoveDeadCode(program);
  return true;
}

}  // namespace mxc
