// SPDX-License-Identifier: Apache-2.0
// The text form from the inside: what kinds of steps print and read with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program/expr_parser.h"
#include "ir/program/program.h"
#include "ir/support/lexer.h"

namespace mxc {

// A program inside of a step, from its storage plan on, further to the right;
// ProgramReader::Inner reads it back.
std::string PrintInner(const Program& program);

// Reads a program. The functions of steps.def read the rest of a step with it;
// its operands are known by then. What is wrong, the lexer keeps.
class ProgramReader {
 public:
  explicit ProgramReader(std::shared_ptr<const SourceFile> file)
      : lex_(std::move(file)), exprs_(lex_) {}

  Result<Program> Read();

  Lexer& lex() { return lex_; }
  Extents List();                            // (1, 2)
  int64_t Named(std::string_view name);      // name=1
  Extents NamedList(std::string_view name);  // name=(1, 2)
  TensorType Type();                         // f32[1, 2]
  Expr Value() { return exprs_.Read(); }     // of the step's operands
  void SetAccType(DType dtype) { exprs_.SetAccType(dtype); }
  // The values that follow may load the step's outputs, numbered after its
  // inputs, and then what is declared.
  void DeclareOutputs();
  void Declare(DType dtype) { exprs_.AddOperand(dtype); }
  std::shared_ptr<const Program> Inner();
  // Of a step, or of a step that it holds.
  StepBody Body();

 private:
  void ReadBody();
  void ReadBuffer();
  void ReadConstant(Buffer& buffer);
  Layout ReadLayout(int rank);
  std::vector<int> ReadBuffers();
  void ReadStep();

  Lexer lex_;
  ExprParser exprs_;
  Program program_;
  std::vector<int> outputs_;  // of the step that is read
  int depth_ = 0;             // of programs in each other
};

}  // namespace mxc
