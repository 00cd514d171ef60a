// SPDX-License-Identifier: Apache-2.0
// The words of the text form (GRAMMAR.md), for the printer and the parser.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ir/program/expr.h"
#include "ir/program/program.h"

namespace mxc {

// Indexed by the enumerators.
inline constexpr std::array<std::string_view, 37> kUnaryNames = {
    "neg",   "abs",       "sign",   "not",   "floor",  "ceil",    "trunc",
    "round", "roundeven", "sqrt",   "cbrt",  "exp",    "expm1",   "log",
    "log1p", "log2",      "log10",  "sin",   "cos",    "tan",     "asin",
    "acos",  "atan",      "sinh",   "cosh",  "tanh",   "asinh",   "acosh",
    "atanh", "erf",       "erfinv", "gamma", "lgamma", "digamma", "isnan",
    "bits",  "highbits"};
// Infix symbols, and names of those that are written as functions.
inline constexpr std::array<std::string_view, 18> kBinaryNames = {
    "+",      "-",   "*",       "/", "%",  "pow", "max", "min", "bitand",
    "bitxor", "shr", "mulhigh", "<", "<=", "==",  "!=",  "&&",  "||"};
inline constexpr std::array<std::string_view, 4> kReduceNames = {
    "sum", "product", "maximum", "minimum"};
inline constexpr std::array<std::string_view, 10> kRoleNames = {
    "n", "g", "k", "m", "gk", "gm", "gn", "s0", "s1", "s2"};

inline std::string_view FunctionName(UnaryOp op) {
  return kUnaryNames[static_cast<size_t>(op)];
}
inline std::string_view FunctionName(BinaryOp op) {
  return kBinaryNames[static_cast<size_t>(op)];
}
// Empty for those written as functions.
inline std::string_view InfixSymbol(BinaryOp op) {
  const bool function = op >= BinaryOp::kPow && op < BinaryOp::kLess;
  return function ? std::string_view() : FunctionName(op);
}
inline std::string_view ReduceName(ReduceOp op) {
  return kReduceNames[static_cast<size_t>(op)];
}
inline std::string_view RoleName(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}

// The enumerator with that name.
template <class Enum, size_t N>
std::optional<Enum> FromName(const std::array<std::string_view, N>& names,
                             std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace mxc
