// SPDX-License-Identifier: Apache-2.0
// Evaluates kernel IR on many indices at once: floats of any type in double,
// integers exactly, as their type.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/float_arithmetic.h"
#include "ir/program/lane_values.h"

namespace mxc {

// One operand as the evaluator reads it: row-major.
struct OperandView {
  std::span<const Element> values;
  Extents dims;
  // If the operand is written meanwhile: the task that wrote each element, and
  // the task that reads now. A task reads only what it wrote itself.
  std::span<const int64_t> writers = {};
  const int64_t* reader = nullptr;
};

class Evaluator {
 public:
  using Values = LaneValues;

  // `noise`, unless null, is added to the results of all operations on floats.
  explicit Evaluator(std::vector<OperandView> operands,
                     RoundingNoise* noise = nullptr)
      : operands_(std::move(operands)), noise_(noise) {}

  // `vars[k]` are the values of axis variable k; `acc` those of Acc.
  Values Evaluate(const Expr& e, int lanes, const std::vector<Values>& vars,
                  const Values& acc = {});
  // The operands have changed: nothing is remembered of them.
  void Forget() { cache_.clear(); }

 private:
  struct Scope;
  struct Cached {
    std::vector<Element> at;  // the free variables' values
    Values result;
  };

  // Valid as long as the scope, and those around it.
  const Values& Visit(const Expr& e, Scope& scope);
  Values Compute(const Expr& e, Scope& scope);
  Values VisitLoad(const Expr& e, Scope& scope);
  Values VisitSelect(const Expr& e, Scope& scope);
  Values VisitReduce(const Expr& e, Scope& scope);
  Values ReduceFrom(const Expr& e, size_t range, Scope& scope);
  const std::vector<int>& FreeVarsOf(const Expr& e);
  // As an implementation may round them: results of an operation of the type.
  Values Disturbed(Values values, DType dtype);

  std::vector<OperandView> operands_;
  RoundingNoise* noise_;
  std::unordered_map<const ExprNode*, std::vector<int>> free_vars_;
  std::unordered_map<const ExprNode*, Cached> cache_;  // reductions only
};

}  // namespace mxc
