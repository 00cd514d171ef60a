// SPDX-License-Identifier: Apache-2.0
// What stands behind a "$" in our own JSON. A string that begins with "$" is
// an expression and has its value; in any other string ${…} is replaced by the
// text of the value:
//
//   "$filters / 4"   "$i == 1 ? 1 : 2"   "stage${s}_unit${i}"
//
//   expression  condition [ "?" expression ":" expression ]
//   condition   || over && over == != < <= > >= over + - over * / %
//   operand     number | 'text' | true | false | name | operand "[" index "]"
//             | "(" expression ")" | "-" operand | "!" operand
//
// Integers stay integers; "/" of two integers must come out even.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "frontend/json/json.h"

namespace mxc {

// The names that an expression sees; inner scopes hide outer ones.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, JsonValue, std::less<>> values;

  const JsonValue* Find(std::string_view name) const;
};

// A value, or what is wrong with the expression.
struct Evaluated {
  JsonValue value;
  std::string error;  // empty: none
};

JsonValue IntegerValue(int64_t integer);
JsonValue StringValue(std::string text);

// What writing out a network may cost: a few lines can ask for more turns,
// blocks, values and text than any machine has time for.
class Budget {
 public:
  // About two seconds; the largest network of models/ takes a thousandth.
  static constexpr int64_t kMostSteps = 20'000'000;

  explicit Budget(int64_t steps = kMostSteps) : steps_(steps), left_(steps) {}

  // False once more is spent than there is.
  bool Spend(int64_t steps) {
    left_ = steps > left_ ? -1 : left_ - steps;
    return left_ >= 0;
  }
  bool exhausted() const { return left_ < 0; }
  std::string Error() const;  // the sentence when it is exhausted

 private:
  int64_t steps_, left_;
};

// Replaces every expression in the value, at any depth. It costs as many steps
// as values are copied.
Evaluated Substitute(const JsonValue& value, const Scope& scope,
                     Budget& budget);

// MXNet's text of an attribute: "(3, 3)", "True", "None", "0.9".
std::string MxnetText(const JsonValue& value);

}  // namespace mxc
