// SPDX-License-Identifier: Apache-2.0
// The text form of expressions; expr_parser.cc reads it back.
#include <fmt/format.h>

#include "ir/program/expr.h"
#include "ir/program/names.h"

namespace mxc {
namespace {

std::string Number(Element value, DType dtype) {
  if (dtype == DType::kBool) return value != 0 ? "true" : "false";
  if (!IsFloat(dtype)) {
    const std::string integer = ToString(value, dtype);
    if (dtype == DType::kI64) return integer;
    return fmt::format("{}:{}", integer, ShortName(dtype));
  }
  std::string text = dtype == DType::kF32
                         ? fmt::format("{}", static_cast<float>(value))
                         : ToString(value, dtype);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  if (dtype != DType::kF32) text += fmt::format(":{}", ShortName(dtype));
  return text;
}

std::string VarName(int var) {
  return fmt::format("{}{}", var < kFirstReductionVar ? 'i' : 'r',
                     var < kFirstReductionVar ? var : var - kFirstReductionVar);
}

void PrintTo(const Expr& e, bool nested, std::string& out);

void PrintList(const std::vector<Expr>& list, std::string& out) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    PrintTo(list[i], false, out);
  }
}

void PrintBinary(const Expr& e, bool nested, std::string& out) {
  const std::string_view symbol = InfixSymbol(e->binary);
  if (symbol.empty()) {
    out += fmt::format("{}(", FunctionName(e->binary));
    PrintList(e->args, out);
    out += ")";
    return;
  }
  if (nested) out += "(";
  PrintTo(e->args[0], true, out);
  out += fmt::format(" {} ", symbol);
  PrintTo(e->args[1], true, out);
  if (nested) out += ")";
}

void PrintReduce(const Expr& e, std::string& out) {
  out += fmt::format("{}{{", ReduceName(e->reduce));
  for (size_t i = 0; i < e->ranges.size(); ++i) {
    out +=
        fmt::format("{}{} in ", i > 0 ? ", " : "", VarName(e->ranges[i].var));
    PrintTo(e->ranges[i].begin, true, out);
    out += " .. ";
    PrintTo(e->ranges[i].end, true, out);
  }
  out += "}(";
  PrintTo(e->args[0], false, out);
  out += ")";
}

void PrintTo(const Expr& e, bool nested, std::string& out) {
  switch (e->kind) {
    case ExprKind::kConst:
      out += Number(e->number, e->dtype);
      break;
    case ExprKind::kVar:
      out += VarName(e->index);
      break;
    case ExprKind::kAcc:
      out += "acc";
      break;
    case ExprKind::kBinary:
      PrintBinary(e, nested, out);
      break;
    case ExprKind::kReduce:
      PrintReduce(e, out);
      break;
    case ExprKind::kLoad:
      out += fmt::format("%{}[", e->index);
      PrintList(e->args, out);
      out += "]";
      break;
    case ExprKind::kUnary:
    case ExprKind::kSelect:
    case ExprKind::kCast:
      out += e->kind == ExprKind::kUnary ? std::string(FunctionName(e->unary))
             : e->kind == ExprKind::kSelect ? "select"
                                            : std::string(ShortName(e->dtype));
      out += "(";
      PrintList(e->args, out);
      out += ")";
      break;
  }
}

}  // namespace

std::string Print(const Expr& e) {
  std::string out;
  PrintTo(Canonical(e), false, out);
  return out;
}

}  // namespace mxc
