// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/row_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/program/evaluator.h"
#include "ir/program/flops.h"
#include "ir/program/in_place.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/program/verify.h"

namespace mxc {
namespace {

constexpr int64_t kMostLanes = 512;

// The tensors that change are read at the element that changes alone.
bool ReadsOwnElements(const RowUpdate& update, const Step& step) {
  std::set<int> kept;
  for (const auto& change : update.changes) {
    kept.insert(step.inputs[static_cast<size_t>(change.keep->index)]);
  }
  bool own = true;
  const auto look = [&](const Expr& e) {
    VisitLoads(e, [&](const ExprNode& load) {
      const int buffer = step.inputs[static_cast<size_t>(load.index)];
      own = own && (!kept.contains(buffer) || IsIdentityIndex(load.args));
    });
  };
  look(update.row);
  for (const auto& change : update.changes) look(change.next);
  return own;
}

// The rows that slots name, computed of a step's operands.
class RowValues {
 public:
  RowValues(const RowUpdate& update, const StepValues& values)
      : update_(update), shape_(ShapeOf(values)), evaluator_(Views(values)) {}

  void ComputeSlot(int64_t slot, std::vector<std::vector<Element>>& outputs) {
    std::vector<LaneValues> vars(static_cast<size_t>(shape_.rank()) + 1,
                                 LaneValues{0});
    vars.back() = {static_cast<Element>(slot)};
    const auto row =
        static_cast<int64_t>(evaluator_.Evaluate(update_.row, 1, vars)[0]);
    if (row < 0 || row >= shape_[0]) return;
    vars[0] = {static_cast<Element>(row)};
    const int64_t length = shape_.elements() / shape_[0];
    for (int64_t at = 0; at < length; at += kMostLanes) {
      const int64_t lanes = std::min(kMostLanes, length - at);
      SetInner(at, lanes, vars);
      for (size_t i = 0; i < outputs.size(); ++i) {
        const LaneValues next = evaluator_.Evaluate(
            update_.changes[i].next, static_cast<int>(lanes), vars);
        for (int64_t lane = 0; lane < lanes; ++lane) {
          outputs[i][static_cast<size_t>(row * length + at + lane)] =
              At(next, static_cast<int>(lane));
        }
      }
    }
  }

 private:
  static const Shape& ShapeOf(const StepValues& values) {
    return values.program.buffers[values.step.outputs[0]].type.shape;
  }

  static std::vector<OperandView> Views(const StepValues& values) {
    std::vector<OperandView> views;
    for (size_t i = 0; i < values.inputs.size(); ++i) {
      const Buffer& buffer = values.program.buffers[values.step.inputs[i]];
      views.push_back({*values.inputs[i], buffer.type.shape.dims()});
    }
    return views;
  }

  // The indices of so many elements of a row from one on.
  void SetInner(int64_t from, int64_t lanes,
                std::vector<LaneValues>& vars) const {
    for (int axis = 1; axis < shape_.rank(); ++axis) {
      vars[static_cast<size_t>(axis)].resize(static_cast<size_t>(lanes));
    }
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t rest = from + lane;
      for (int axis = shape_.rank(); --axis > 0; rest /= shape_[axis]) {
        vars[static_cast<size_t>(axis)][static_cast<size_t>(lane)] =
            static_cast<Element>(rest % shape_[axis]);
      }
    }
  }

  const RowUpdate& update_;
  const Shape& shape_;
  Evaluator evaluator_;
};

}  // namespace

std::string RowUpdate::Print() const {
  std::string out = fmt::format("    rows {} at {}\n", slots, mxc::Print(row));
  for (const Change& change : changes) {
    out += fmt::format("      keep {} next {}\n", mxc::Print(change.keep),
                       mxc::Print(change.next));
  }
  return out;
}

StepBody ReadRowUpdate(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("rows");
  RowUpdate update;
  update.slots = lex.Integer();
  lex.Expect("at");
  update.row = reader.Value();
  while (lex.Accept("keep")) {
    RowUpdate::Change change;
    change.keep = reader.Value();
    lex.Expect("next");
    change.next = reader.Value();
    update.changes.push_back(std::move(change));
  }
  return update;
}

std::optional<std::string> RowUpdate::Verify(const Program& program,
                                             const Step& step) const {
  constexpr int64_t kMostSlots = int64_t{1} << 47;
  if (slots < 1 || slots > kMostSlots) return fmt::format("{} slots", slots);
  if (changes.size() != step.outputs.size()) {
    return fmt::format("{} changes of {} outputs", changes.size(),
                       step.outputs.size());
  }
  const Shape& shape = program.buffers[step.outputs[0]].type.shape;
  if (shape.rank() < 1) return "a tensor without rows";
  const auto rank = static_cast<size_t>(shape.rank());
  if (!row || row->dtype != DType::kI64) return "a row that is no i64";
  if (auto error = VerifyExpr(program, step, row, rank + 1)) return error;
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto& [keep, next] = changes[i];
    const TensorType& type = program.buffers[step.outputs[i]].type;
    if (!keep || keep->kind != ExprKind::kLoad ||
        !IsIdentityIndex(keep->args)) {
      return "what is kept is no element at the own index";
    }
    if (auto error = VerifyExpr(program, step, keep, rank)) return error;
    if (auto error = VerifyExpr(program, step, next, rank + 1)) return error;
    const int kept = step.inputs[static_cast<size_t>(keep->index)];
    if (program.buffers[kept].type != type || type.shape != shape ||
        next->dtype != type.dtype) {
      return fmt::format("output {} is unlike what is kept of it", i);
    }
  }
  if (ReadsOwnElements(*this, step)) return std::nullopt;
  return "an element of another row is read of what changes";
}

void RowUpdate::Interpret(StepValues& values) const {
  for (size_t i = 0; i < changes.size(); ++i) {
    values.outputs[i] =
        *values.inputs[static_cast<size_t>(changes[i].keep->index)];
  }
  RowValues rows(*this, values);
  for (int64_t slot = 0; slot < slots; ++slot) {
    rows.ComputeSlot(slot, values.outputs);
  }
}

std::string RowUpdate::Key(const Program& program, const Step& step,
                           const ExprText& text) const {
  std::string key = fmt::format("|rows {} {}", slots, text(row));
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto& [keep, next] = changes[i];
    const int kept = step.inputs[static_cast<size_t>(keep->index)];
    key += fmt::format(
        "|{} {}{}", text(keep), text(next),
        HaveSameBytes(program, kept, step.outputs[i]) ? " in place" : "");
  }
  return key;
}

double RowUpdate::Flops(const Program& program, const Step& step) const {
  // A row for each slot, whose variable stands behind the axes'.
  Extents extent = program.buffers[step.outputs[0]].type.shape.dims();
  extent[0] = 1;
  extent.push_back(slots);
  double total = 0;
  for (const Change& change : changes) {
    total += OperationsOf(change.next, extent);
  }
  return total;
}

void RowUpdate::VisitExprs(const std::function<void(Expr&)>& f) {
  f(row);
  for (Change& change : changes) {
    f(change.keep);
    f(change.next);
  }
}

}  // namespace mxc
