// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/expression.h"

#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

Scope Names() {
  Scope scope;
  scope.values["i"] = IntegerValue(3);
  scope.values["least"] = IntegerValue(INT64_MIN);
  scope.values["word"] = StringValue("text");
  JsonValue list;
  list.kind = JsonValue::Kind::kArray;
  list.items = {IntegerValue(16), StringValue("b"), list};
  scope.values["list"] = list;
  return scope;
}

void RunExpression(Bytes input) {
  static const Scope scope = Names();
  Budget budget;
  const auto found =
      Substitute(StringValue(std::string(TextOf(input))), scope, budget);
  if (found.error.empty()) (void)MxnetText(found.value);
}

std::vector<std::string> ExpressionSeeds() {
  return {"$i * 16 / 4 - 1 % 5",
          "$i == 1 ? 'a' : !(i >= 2 && i != 3 || false)",
          "$list[2][0] + -list[0]",
          "stage${i}_unit${i + 1}${word}",
          "$1.5e3 < 2",
          "$'a' == word",
          "$least / -1"};
}

}  // namespace

extern const Target expression;
const Target expression = {
    .run = RunExpression,
    .seeds = ExpressionSeeds,
    .most_bytes = 96,
    .words = {"$",    "${",    "}",    "i",     "list",
              "word", "least", "true", "false", "&&",
              "||",   "==",    "!=",   "<=",    ">=",
              "?",    ":",     "[0]",  "'a'",   "9223372036854775807",
              "-1",   "1e308", "(((("}};

}  // namespace mxc::fuzz
