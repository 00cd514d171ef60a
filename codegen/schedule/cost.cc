// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/cost.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "codegen/schedule/free_variables.h"

namespace mxc {
namespace {

double CyclesOf(const OperationCycles& cycles, const ExprNode& e) {
  switch (e.kind) {
    case ExprKind::kLoad:
      return cycles.load;
    case ExprKind::kUnary:
      switch (e.unary) {
        case UnaryOp::kNeg:
        case UnaryOp::kAbs:
        case UnaryOp::kSign:
        case UnaryOp::kNot:
        case UnaryOp::kFloor:
        case UnaryOp::kCeil:
        case UnaryOp::kTrunc:
        case UnaryOp::kRound:
        case UnaryOp::kRoundEven:
        case UnaryOp::kIsNan:
        case UnaryOp::kBits:
        case UnaryOp::kHighBits:
          return cycles.simple;
        case UnaryOp::kSqrt:
          return cycles.root;
        case UnaryOp::kExp:
        case UnaryOp::kLog:
        case UnaryOp::kTanh:
        case UnaryOp::kErf:
          return cycles.function;
        default:
          return cycles.library;
      }
    case ExprKind::kBinary:
      if (e.dtype == DType::kI64) return cycles.index;
      if (e.binary == BinaryOp::kDiv) return cycles.divide;
      if (e.binary == BinaryOp::kPow || e.binary == BinaryOp::kMod) {
        return cycles.library;
      }
      return cycles.simple;
    case ExprKind::kSelect:
    case ExprKind::kCast:
      return cycles.simple;
    default:
      return 0;
  }
}

class Cost {
 public:
  Cost(const Machine& machine, const CostContext& context)
      : machine_(machine), context_(context) {}

  void Visit(const Expr& e) {
    if (!seen_.insert(e->hash).second) return;
    for (const Range& range : e->ranges) {
      Visit(range.begin);
      Visit(range.end);
      const bool constant = range.begin->kind == ExprKind::kConst &&
                            range.end->kind == ExprKind::kConst;
      Reduced& reduced = reduced_[range.var];
      // Bounds that vary belong to small windows.
      reduced.trips = constant ? std::max<double>(
                                     1, range.end->number - range.begin->number)
                               : 3.0;
      reduced.bounds.clear();
      AddVars(range.begin, reduced.bounds);
      AddVars(range.end, reduced.bounds);
    }
    for (const Expr& arg : e->args) Visit(arg);
    std::set<int> vars;
    AddVars(e, vars);
    double times = 1;
    for (const int var : vars) {
      const auto it = reduced_.find(var);
      times *= it != reduced_.end() ? it->second.trips
                                    : static_cast<double>(context_.trips(var));
    }
    cycles_ += CyclesOfVector(*e) * std::max(1.0, times / context_.lanes);
  }

  double cycles() const { return cycles_; }

 private:
  // A reduction's variable; what its bounds depend on, it depends on.
  struct Reduced {
    double trips = 1;
    std::set<int> bounds;
  };

  double CyclesOfVector(const ExprNode& e) const {
    const bool gathered = e.kind == ExprKind::kLoad && context_.jumps(e);
    const double cycles = CyclesOf(machine_.cycles, e);
    return gathered ? cycles * context_.lanes : cycles;
  }

  void AddVars(const Expr& e, std::set<int>& vars) {
    for (const int var : free_.Of(e).vars) {
      vars.insert(var);
      const auto it = reduced_.find(var);
      if (it != reduced_.end()) {
        vars.insert(it->second.bounds.begin(), it->second.bounds.end());
      }
    }
  }

  const Machine& machine_;
  const CostContext& context_;
  FreeVariables free_;
  std::unordered_set<uint64_t> seen_;  // hashes: structure
  std::unordered_map<int, Reduced> reduced_;
  double cycles_ = 0;
};

}  // namespace

double EstimateNanoseconds(const Machine& machine, std::span<const Expr> forms,
                           const CostContext& context) {
  Cost cost(machine, context);
  double cycles = 0;
  for (const Expr& form : forms) {
    // Sides of selects at the top share the elements: equally, say.
    const double before = cost.cycles();
    int sides = 1;
    Expr side = form;
    for (; side->kind == ExprKind::kSelect; ++sides) {
      cost.Visit(side->args[1]);
      side = side->args[2];
    }
    cost.Visit(side);
    cycles += (cost.cycles() - before) / sides;
  }
  return cycles / (machine.clock / 1e9);
}

}  // namespace mxc
