// SPDX-License-Identifier: Apache-2.0
// What is wrong with a procedure.
#include <fmt/format.h>

#include <algorithm>

#include "ir/program/program.h"
#include "ir/program/steps/procedure.h"

namespace mxc {
namespace {

using MaybeError = std::optional<std::string>;
using StatementKind = Statement::Kind;
using Statements = std::vector<Statement>;

constexpr int64_t kMostTasks = int64_t{1} << 47;
constexpr int64_t kMostLocalBytes = int64_t{1} << 40;
constexpr int kMostLoops = 30;  // in each other

class ProcedureVerifier {
 public:
  ProcedureVerifier(const Procedure& procedure, const Program& program,
                    const Step& step)
      : procedure_(procedure), inputs_(step.inputs.size()) {
    for (const int b : step.operands()) {
      types_.push_back(program.buffers[b].type);
    }
    for (const TensorType& local : procedure.locals) types_.push_back(local);
  }

  MaybeError Run() {
    if (procedure_.tasks < 1 || procedure_.tasks > kMostTasks) {
      return fmt::format("{} tasks", procedure_.tasks);
    }
    int64_t bytes = 0;
    for (const TensorType& local : procedure_.locals) {
      if (!local.known() || Unfit(local)) {
        return fmt::format("a local {}", ToString(local));
      }
      bytes += local.bytes();
      if (bytes > kMostLocalBytes) return "locals of too many bytes";
    }
    ranges_.push_back(Interval{0, procedure_.tasks - 1});
    return Check(procedure_.body, true);
  }

 private:
  // `certain`: the statements run whatever the data are.
  MaybeError Check(const Statements& list, bool certain) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (auto error = Check(list[i], certain)) return error;
      if (list[i].kind == StatementKind::kBreak && i + 1 < list.size()) {
        return "a statement behind a break";
      }
      certain = certain && !Breaks(list[i]);
    }
    return std::nullopt;
  }

  MaybeError Check(const Statement& s, bool certain) {
    switch (s.kind) {
      case StatementKind::kStore:
        return CheckStore(s, certain);
      case StatementKind::kFor:
        return CheckFor(s, certain);
      case StatementKind::kIf: {
        if (auto error = CheckValue(s.value, DType::kBool, certain)) {
          return error;
        }
        auto error = Check(s.body, false);
        return error ? error : Check(s.otherwise, false);
      }
      case StatementKind::kBreak:
        if (ranges_.size() == 1) return "a break outside of a loop";
        return std::nullopt;
    }
    return "a statement of no kind";
  }

  MaybeError CheckStore(const Statement& s, bool certain) {
    if (!s.target || s.target->kind != ExprKind::kLoad) {
      return "a store to what is no element";
    }
    if (s.target->index < static_cast<int>(inputs_)) {
      return fmt::format("{} is written, an input", Print(s.target));
    }
    if (auto error = CheckExpr(s.target, certain)) return error;
    return CheckValue(s.value, s.target->dtype, certain);
  }

  MaybeError CheckFor(const Statement& s, bool certain) {
    for (const Expr* bound : {&s.begin, &s.end}) {
      if (auto error = CheckValue(*bound, DType::kI64, certain)) return error;
    }
    if (s.most < 0 || s.most > Statement::kMostRounds) {
      return fmt::format("a loop of at most {} rounds", s.most);
    }
    if (ranges_.size() > kMostLoops) return "too many loops in each other";
    const bool known = s.begin->kind == ExprKind::kConst &&
                       s.end->kind == ExprKind::kConst &&
                       s.end->number > s.begin->number && s.most > 0;
    ranges_.push_back(std::nullopt);
    if (known) {
      const auto begin = static_cast<int64_t>(s.begin->number);
      const auto end = static_cast<int64_t>(s.end->number);
      ranges_.back() = Interval{begin, std::min(end, begin + s.most) - 1};
    }
    auto error = Check(s.body, certain && known);
    ranges_.pop_back();
    return error;
  }

  // Returns whether it may end the loop around it.
  static bool Breaks(const Statement& s) {
    if (s.kind == StatementKind::kBreak) return true;
    if (s.kind != StatementKind::kIf) return false;
    return std::ranges::any_of(s.body, Breaks) ||
           std::ranges::any_of(s.otherwise, Breaks);
  }

  MaybeError CheckValue(const Expr& e, DType dtype, bool certain) const {
    if (!e) return "an expression is missing";
    if (e->dtype != dtype) {
      return fmt::format("{} is {}, expected {}", Print(e), ShortName(e->dtype),
                         ShortName(dtype));
    }
    return CheckExpr(e, certain);
  }

  MaybeError CheckExpr(const Expr& e, bool certain) const {
    MaybeError error;
    VisitLoads(e, [&](const ExprNode& load) {
      if (!error) error = CheckLoad(load);
    });
    for (const int var : FreeVars(e)) {
      if (error || var < static_cast<int>(ranges_.size())) continue;
      error = fmt::format("variable {} is unbound", var);
    }
    if (!error && certain) error = CheckBounds(e);
    return error;
  }

  MaybeError CheckLoad(const ExprNode& load) const {
    if (load.index < 0 || load.index >= static_cast<int>(types_.size())) {
      return fmt::format("%{} is no operand and no local", load.index);
    }
    const TensorType& type = types_[static_cast<size_t>(load.index)];
    if (type.dtype == load.dtype &&
        type.shape.dims().size() == load.args.size()) {
      return std::nullopt;
    }
    return fmt::format("%{} is {}, not {} with {} indices", load.index,
                       ToString(type), ShortName(load.dtype), load.args.size());
  }

  // An index of what is evaluated for certain lies outside for all values of
  // the variables.
  MaybeError CheckBounds(const Expr& e) const {
    const bool conditional =
        e->kind == ExprKind::kSelect || e->kind == ExprKind::kReduce;
    for (size_t i = 0; i < e->args.size(); ++i) {
      if (e->kind == ExprKind::kLoad) {
        const TensorType& type = types_[static_cast<size_t>(e->index)];
        const Expr extent(type.shape[static_cast<int>(i)]);
        if (IsFalse(e->args[i] >= 0) || IsFalse(e->args[i] < extent)) {
          return fmt::format("{} is out of {}", Print(e), ToString(type));
        }
      }
      if (conditional && (i > 0 || e->kind == ExprKind::kReduce)) continue;
      if (auto error = CheckBounds(e->args[i])) return error;
    }
    return std::nullopt;
  }

  bool IsFalse(const Expr& condition) const {
    const Expr simple =
        Simplify(condition, [&](int var) -> std::optional<Interval> {
          const auto k = static_cast<size_t>(var);
          return k < ranges_.size() ? ranges_[k] : std::nullopt;
        });
    return IsConst(simple, 0);
  }

  const Procedure& procedure_;
  const size_t inputs_;
  std::vector<TensorType> types_;                // inputs, outputs, locals
  std::vector<std::optional<Interval>> ranges_;  // of the variables
};

}  // namespace

std::optional<std::string> Procedure::Verify(const Program& program,
                                             const Step& step) const {
  return ProcedureVerifier(*this, program, step).Run();
}

}  // namespace mxc
