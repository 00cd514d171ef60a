// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/kept_terms.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "codegen/schedule/free_variables.h"

namespace mxc {
namespace {

// Returns whether it takes longer than writing and reading the value does.
bool IsCostly(const Expr& e) {
  if (e->kind == ExprKind::kReduce) return false;
  if (e->kind == ExprKind::kUnary) {
    switch (e->unary) {
      case UnaryOp::kExp:
      case UnaryOp::kLog:
      case UnaryOp::kTanh:
      case UnaryOp::kErf:
        return true;
      default:
        break;
    }
  }
  return std::ranges::any_of(e->args, IsCostly);
}

bool Contains(const Expr& e, const Expr& part,
              std::set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return false;
  if (Equal(e, part)) return true;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return Contains(arg, part, seen); });
}

bool Contains(const Expr& e, const Expr& part) {
  std::set<const ExprNode*> seen;
  return Contains(e, part, seen);
}

// Reductions that are computed whatever the data are, outside of others.
void CollectCertain(const Expr& e, std::set<const ExprNode*>& seen,
                    std::vector<Expr>& found) {
  if (!seen.insert(e.get()).second) return;
  if (e->kind == ExprKind::kReduce) return found.push_back(e);
  const size_t certain = e->kind == ExprKind::kSelect ? 1 : e->args.size();
  for (size_t i = 0; i < certain; ++i) CollectCertain(e->args[i], seen, found);
}

class Keeping {
 public:
  Keeping(LoopNest& nest, std::span<const NestOperand> operands)
      : nest_(nest), operands_(operands) {}

  bool Fits() const {
    const bool lanes_last =
        nest_.lane_dim >= 0 &&
        nest_.lane_dim + 1 == static_cast<int>(nest_.dims.size());
    return lanes_last && !nest_.one_vector && nest_.lane_chunk == 0 &&
           nest_.borders.empty() && lane().stride == 1;
  }

  std::vector<Expr> Reductions() const {
    std::set<const ExprNode*> seen;
    std::vector<Expr> found;
    for (const Expr& value : nest_.values) CollectCertain(value, seen, found);
    return found;
  }

  // Keeps the terms of `reduce` in the output, if that is of use.
  bool Keep(const Expr& reduce, int output) {
    if (!RunsOverLanes(reduce)) return false;
    const Expr& body = reduce->args[0];
    const DType dtype = operands_[static_cast<size_t>(output)].dtype;
    // A term that the output would round is not kept there.
    const bool exact = IsFloat(dtype) && AccumulateType(dtype) == dtype;
    if (dtype != body->dtype || !exact || !IsCostly(body)) return false;
    const int var = reduce->ranges[0].var;
    const Expr term = Resimplify(
        body, [&](int v) { return v == var ? Var(lane().var) : Expr(); },
        nest_.Ranges(), lane().var);
    const Expr kept = Load(output, dtype, {ToExpr(nest_.Offset())});
    bool found = false;
    for (Expr& value : nest_.values) {
      if (!Contains(value, term)) continue;
      found = true;
      value = Rewrite(value, [&](const Expr& e) -> Expr {
        return Equal(e, term) ? kept : Expr();
      });
    }
    if (found) nest_.kept.push_back({reduce, output, OffsetAlong(var)});
    return found;
  }

 private:
  const LoopDim& lane() const {
    return nest_.dims[static_cast<size_t>(nest_.lane_dim)];
  }

  // Over a row of the output, and for each row anew.
  bool RunsOverLanes(const Expr& reduce) {
    if (reduce->ranges.size() != 1) return false;
    const Range& range = reduce->ranges[0];
    const bool whole = range.begin->kind == ExprKind::kConst &&
                       range.begin->number == 0 &&
                       range.end->kind == ExprKind::kConst &&
                       range.end->number == static_cast<double>(lane().extent);
    return whole && std::ranges::all_of(nest_.dims, [&](const LoopDim& dim) {
             return free_.Uses(reduce, dim.var) == (dim.var != lane().var);
           });
  }

  Affine OffsetAlong(int var) const {
    Affine offset;
    for (const LoopDim& dim : nest_.dims) {
      offset.Add(Var(dim.var == lane().var ? var : dim.var), dim.stride);
    }
    offset.constant = nest_.base;
    return offset;
  }

  LoopNest& nest_;
  std::span<const NestOperand> operands_;
  FreeVariables free_;
};

}  // namespace

void KeepTerms(LoopNest& nest, std::span<const NestOperand> operands,
               std::span<const int> free_outputs) {
  Keeping keeping(nest, operands);
  if (!keeping.Fits()) return;
  size_t next = 0;
  for (const Expr& reduce : keeping.Reductions()) {
    if (next == free_outputs.size()) return;
    if (keeping.Keep(reduce, free_outputs[next])) ++next;
  }
}

}  // namespace mxc
