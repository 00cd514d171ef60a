// SPDX-License-Identifier: Apache-2.0
#include "ir/program/expr_parser.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ir/program/integers.h"
#include "ir/program/names.h"

namespace mxc {
namespace {

constexpr int kMaxDepth = 200;  // of nested parentheses

// Binding strength of the infix operators; the printer parenthesises every
// nested one, so one level serves.
std::optional<BinaryOp> InfixFromSymbol(std::string_view symbol) {
  const auto op = FromName<BinaryOp>(kBinaryNames, symbol);
  return op && !InfixSymbol(*op).empty() ? op : std::nullopt;
}

bool IsVariable(const std::string& name) {
  return name.size() > 1 && name.size() < 8 &&
         (name[0] == 'i' || name[0] == 'r') &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

// A value with infix operators between operands of one type.
Expr ExprParser::ReadValue(int depth) {
  Expr left = ReadOperand(depth);
  while (const auto op = InfixFromSymbol(lex_.Peek())) {
    lex_.Expect(lex_.Peek());
    Expr right = ReadOperand(depth);
    if (lex_.failed()) return Expr(0);
    if (left->dtype != right->dtype) return Wrong("operands of one type");
    if (!IsDefined(*op, left->dtype)) return Wrong("operands of integers");
    left = Binary(*op, left, right);
  }
  return left;
}

Expr ExprParser::Wrong(std::string_view expected) {
  lex_.Fail(expected);
  return Expr(0);
}

std::vector<Expr> ExprParser::ReadArgs(std::string_view close, int depth) {
  std::vector<Expr> args;
  while (!lex_.AtEnd() && !lex_.Accept(close)) {
    if (!args.empty()) lex_.Expect(",");
    args.push_back(ReadValue(depth + 1));
  }
  return args;
}

Expr ExprParser::ReadOperand(int depth) {
  if (depth > kMaxDepth) return Wrong("fewer nested parentheses");
  if (lex_.AtEnd()) return Wrong("a value");
  if (lex_.Accept("(")) {
    Expr e = ReadValue(depth + 1);
    lex_.Expect(")");
    return e;
  }
  if (lex_.Accept("%")) return ReadLoad(depth);
  const std::string_view word = lex_.Peek();
  const bool number = word == "-" || word == "inf" || word == "nan" ||
                      (word[0] >= '0' && word[0] <= '9');
  if (number) return ReadNumber();
  return ReadNamed(lex_.Identifier(), depth);
}

Expr ExprParser::ReadNumber() {
  const bool negative = lex_.Accept("-");
  const std::string text(lex_.Peek());
  Element value = lex_.Number();
  if (negative) value = -value;
  const bool real = text.find_first_of(".en") != std::string::npos;
  DType dtype = real ? DType::kF32 : DType::kI64;
  if (lex_.Accept(":")) {
    dtype = DTypeFromShortName(lex_.Identifier()).value_or(dtype);
  }
  if (dtype == DType::kBool) return Constant(value != 0, dtype);
  const bool fits = value == std::trunc(value) &&
                    value >= LeastInteger(dtype) &&
                    value <= LargestInteger(dtype);
  if (!IsFloat(dtype) && !fits) return Wrong("an integer that its type holds");
  return Constant(value, dtype);
}

Expr ExprParser::ReadLoad(int depth) {
  const int64_t operand = lex_.Integer();
  if (operand < 0 || operand >= static_cast<int64_t>(operands_.size())) {
    return Wrong("an operand of the step");
  }
  lex_.Expect("[");
  auto indices = ReadArgs("]", depth);
  for (const Expr& i : indices) {
    if (i->dtype != DType::kI64) return Wrong("integer indices");
  }
  return Load(static_cast<int>(operand),
              operands_[static_cast<size_t>(operand)], std::move(indices));
}

int ExprParser::Variable(const std::string& name) {
  const int number = std::atoi(name.c_str() + 1);
  if (name[0] == 'i') return number;
  auto [it, fresh] = vars_.try_emplace(number, 0);
  if (fresh) it->second = FreshReductionVar();
  return it->second;
}

// By a reduction around it; indices are by their step.
bool ExprParser::IsBound(const std::string& name) const {
  return name[0] == 'i' ||
         std::ranges::count(bound_, std::atoi(name.c_str() + 1)) > 0;
}

Expr ExprParser::ReadNamed(const std::string& name, int depth) {
  if (name == "acc") return Acc(acc_);
  if (name == "true" || name == "false") {
    return Constant(name == "true", DType::kBool);
  }
  if (const auto op = FromName<ReduceOp>(kReduceNames, name)) {
    return ReadReduce(*op, depth);
  }
  // "i32(x)" is a cast, "i32" a variable.
  if (IsVariable(name) && lex_.Peek() != "(") {
    if (!IsBound(name)) return Wrong("a variable of a reduction around it");
    return Var(Variable(name));
  }
  lex_.Expect("(");
  const auto args = ReadArgs(")", depth);
  if (lex_.failed()) return Expr(0);
  return Call(name, args);
}

Expr ExprParser::Call(const std::string& name, const std::vector<Expr>& args) {
  if (name == "select" && args.size() == 3 && args[0]->dtype == DType::kBool &&
      args[1]->dtype == args[2]->dtype) {
    return Select(args[0], args[1], args[2]);
  }
  if (args.size() == 1) {
    if (const auto dtype = DTypeFromShortName(name)) {
      return Cast(args[0], *dtype);
    }
    const auto op = FromName<UnaryOp>(kUnaryNames, name);
    if (op && IsDefined(*op, args[0]->dtype)) return Unary(*op, args[0]);
  }
  const auto op = FromName<BinaryOp>(kBinaryNames, name);
  if (op && args.size() == 2 && args[0]->dtype == args[1]->dtype &&
      IsDefined(*op, args[0]->dtype)) {
    return Binary(*op, args[0], args[1]);
  }
  return Wrong("a function with operands that fit it");
}

Expr ExprParser::ReadReduce(ReduceOp op, int depth) {
  std::vector<Range> ranges;
  const size_t around = bound_.size();
  lex_.Expect("{");
  while (!lex_.AtEnd() && !lex_.Accept("}")) {
    if (!ranges.empty()) lex_.Expect(",");
    const std::string name = lex_.Identifier();
    if (!IsVariable(name) || name[0] != 'r') return Wrong("a variable");
    lex_.Expect("in");
    Range range;
    range.begin = ReadOperand(depth + 1);
    lex_.Expect("..");
    range.end = ReadOperand(depth + 1);
    range.var = Variable(name);
    bound_.push_back(std::atoi(name.c_str() + 1));
    ranges.push_back(std::move(range));
  }
  lex_.Expect("(");
  Expr body = ReadValue(depth + 1);
  lex_.Expect(")");
  bound_.resize(around);
  if (lex_.failed()) return Expr(0);
  return Reduce(op, std::move(ranges), body);
}

}  // namespace mxc
