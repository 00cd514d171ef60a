// SPDX-License-Identifier: Apache-2.0
// Parses the expressions of a program's text (ir/GRAMMAR.md); an error is a
// diagnostic at its place in the text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program/expr.h"
#include "ir/support/lexer.h"

namespace mxc {

// Reads expressions of the text form, step by step.
class ExprParser {
 public:
  // `lex` must outlive the parser.
  explicit ExprParser(Lexer& lex) : lex_(lex) {}

  // The expressions that follow load operands of these types. Reduction
  // variables of one step with one name are one variable.
  void BeginStep(std::vector<DType> operands) {
    operands_ = std::move(operands);
    vars_.clear();
    acc_ = DType::kF32;
  }
  // The type of `acc` in the step's expressions that follow, unless f32.
  void SetAccType(DType dtype) { acc_ = dtype; }
  // One more, numbered next.
  void AddOperand(DType dtype) { operands_.push_back(dtype); }

  // What is no expression is recorded in the lexer; then 0.
  Expr Read() { return ReadValue(0); }

 private:
  // `depth`: of nested parentheses.
  Expr ReadValue(int depth);
  Expr ReadOperand(int depth);
  Expr ReadNumber();
  Expr ReadLoad(int depth);
  Expr ReadNamed(const std::string& name, int depth);
  Expr ReadReduce(ReduceOp op, int depth);
  std::vector<Expr> ReadArgs(std::string_view close, int depth);
  Expr Call(const std::string& name, const std::vector<Expr>& args);
  int Variable(const std::string& name);
  bool IsBound(const std::string& name) const;
  Expr Wrong(std::string_view expected);

  Lexer& lex_;
  std::vector<DType> operands_;
  DType acc_ = DType::kF32;
  std::map<int, int> vars_;  // r<k> → the process's variable
  std::vector<int> bound_;   // the k of the reductions around
};

}  // namespace mxc
