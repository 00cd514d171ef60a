// SPDX-License-Identifier: Apache-2.0
// ProcedureBuilder: how an operator's file writes a Procedure.
//
//   void CountNegativeProcedure(const NoAttrs&, ProcedureBuilder& p) {
//     const Expr row = p.Tasks(p.InShape(0)[0]);
//     const Expr count = p.Let(Constant(0, DType::kI32));
//     p.For(0, p.InShape(0)[1], [&](const Expr& i) {
//       const Expr x = p.In(0)(row, i);
//       p.If(x < Lit(0, x), [&] { p.Set(count, count + Lit(1, count)); });
//     });
//     p.Set(p.Out(0)(row), count);
//   }
//
// An element is a Load: an expression where it is read, a place in Set. An
// expression is evaluated anew, with the values of that time, in every
// statement that it is part of; Let evaluates it once.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/expr.h"
#include "ir/program/steps/procedure.h"

namespace mxc {

// An operand or a local array of a procedure; a call names an element of it.
class ProcedureArray {
 public:
  ProcedureArray(int operand, DType dtype) : operand_(operand), dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  Expr At(std::vector<Expr> index) const {
    return Load(operand_, dtype_, std::move(index));
  }
  template <class... Index>
  Expr operator()(Index... index) const {
    return At({Expr(index)...});
  }

 private:
  int operand_;
  DType dtype_;
};

class ProcedureBuilder {
 public:
  // Of a node whose types are known.
  explicit ProcedureBuilder(const Node& node);
  ProcedureBuilder(std::vector<TensorType> inputs,
                   std::vector<TensorType> outputs);

  const Shape& InShape(int i) const { return types_[i].shape; }
  DType InDType(int i) const { return types_[i].dtype; }
  const Shape& OutShape(int i = 0) const { return types_[inputs_ + i].shape; }
  DType OutDType(int i = 0) const { return types_[inputs_ + i].dtype; }

  // So many tasks instead of one; returns the number of the one that runs.
  // Whatever it writes of an output belongs to it alone.
  Expr Tasks(int64_t count);

  // --- places
  ProcedureArray In(int i) const { return ArrayOf(i); }
  ProcedureArray Out(int i = 0) const { return ArrayOf(inputs_ + i); }
  // Locals of the task; they hold nothing until they are set.
  ProcedureArray Array(DType dtype, Extents extents);
  Expr Scalar(DType dtype) { return Array(dtype, {})(); }

  // --- statements, behind those that were stated before
  // The value is converted to the element's type.
  void Set(const Expr& element, const Expr& value);
  // A new scalar of that value.
  Expr Let(const Expr& value);
  // begin ≤ i < end, in at most so many rounds.
  using Body = std::function<void(const Expr& i)>;
  void For(const Expr& begin, const Expr& end, int64_t most, const Body& body);
  void For(int64_t begin, int64_t end, const Body& body);
  void If(const Expr& condition, const std::function<void()>& then,
          const std::function<void()>& otherwise = nullptr);
  // Leaves the innermost loop; the last statement of its branch.
  void Break();

  // What was stated.
  Procedure Finish() { return std::move(procedure_); }

 private:
  ProcedureArray ArrayOf(int operand) const {
    return {operand, types_[static_cast<size_t>(operand)].dtype};
  }
  Statement& Add(Statement::Kind kind);
  std::vector<Statement> Collect(const std::function<void()>& body);

  std::vector<TensorType> types_;  // inputs, outputs, locals
  int inputs_;
  Procedure procedure_;
  std::vector<Statement>* list_;  // that the next statement joins
  int loops_ = 0;                 // around it
};

}  // namespace mxc
