// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace mxc {
namespace {

// Words of C and C++ of any year that may be a network's names, in order.
constexpr std::array kWords = std::to_array<std::string_view>(
    {"alignas",   "alignof",  "and",      "asm",      "auto",      "bool",
     "break",     "case",     "catch",    "char",     "class",     "compl",
     "concept",   "const",    "continue", "default",  "delete",    "do",
     "double",    "else",     "enum",     "explicit", "export",    "extern",
     "false",     "float",    "for",      "friend",   "goto",      "if",
     "inline",    "int",      "long",     "mutable",  "namespace", "new",
     "noexcept",  "not",      "nullptr",  "operator", "or",        "private",
     "protected", "public",   "register", "requires", "restrict",  "return",
     "short",     "signed",   "sizeof",   "static",   "struct",    "switch",
     "template",  "this",     "throw",    "true",     "try",       "typedef",
     "typeid",    "typename", "typeof",   "union",    "unsigned",  "using",
     "virtual",   "void",     "volatile", "while",    "xor"});

bool IsWord(const std::string& name) {
  return std::ranges::binary_search(kWords, std::string_view(name));
}

}  // namespace

std::string Identifier(const std::string& name) {
  std::string out;
  for (const char c : name) {
    out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) {
    out.insert(out.begin(), '_');
  }
  return out;
}

std::string ParameterNames::Take(const std::string& name) {
  const std::string wish = Identifier(name);
  std::string unique = IsWord(wish) ? wish + "_" : wish;
  for (int n = 2; !taken_.insert(unique).second; ++n) {
    unique = fmt::format("{}_{}", wish, n);
  }
  return unique;
}

}  // namespace mxc
