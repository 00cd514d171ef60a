// SPDX-License-Identifier: Apache-2.0
// "name:key=value:key=value", the way a schedule, a metric or an initializer
// is asked for on the command line, and ["name", {"key": value}], the way
// MXNet writes an initializer into a symbol's __init__ attribute.
//
// Every value is text until somebody reads it as a number or a word. What
// nobody reads is refused, so that a misspelt argument never passes silently.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/status.h"

namespace mxc::train {

struct Argument {
  std::string key;  // empty: given by position
  std::string value;
};

struct Specification {
  std::string name;  // in lower case
  std::vector<Argument> arguments;
};

std::string LowerCase(std::string_view text);  // of ASCII

// "metric 'acuracy' is unknown; nearest: accuracy; expected one of accuracy,
// …".
Status UnknownName(const std::string& what, const std::string& name,
                   const std::vector<std::string_view>& known);

// "factor:step=3:factor=0.5", "xavier:gaussian,in,2". A value may hold commas
// and '='; a colon ends it. Positional values are split at commas.
StatusOr<Specification> ParseSpecification(std::string_view text);

// The JSON form: a list of a string and, possibly, an object whose values are
// scalars or (nested) lists of them. null, true and false become "None", "True"
// and "False", a list keeps its brackets; of equal keys one counts.
StatusOr<Specification> ParseJsonSpecification(std::string_view text);

// Takes the arguments of a specification one by one. The first error is kept
// and returned by Finish, which also refuses what was not taken.
class ArgumentReader {
 public:
  // `what` is for messages: "schedule".
  ArgumentReader(const Specification& specification, std::string what);

  // Each leaves `value` as it is if the argument is absent, and says whether it
  // was there. "None" counts as absent.
  bool Read(std::string_view key, double& value);
  bool Read(std::string_view key, int64_t& value);
  bool Read(std::string_view key, bool& value);
  bool Read(std::string_view key, std::string& value);
  // "3,6,9" or "[3, 6, 9]"; a single number is a list of one, inner brackets
  // are ignored.
  bool Read(std::string_view key, std::vector<int64_t>& values);
  bool Read(std::string_view key, std::vector<double>& values);
  // One of `words`; the index of the one that was given goes to `value`.
  bool Read(std::string_view key, const std::vector<std::string_view>& words,
            int& value);
  // The only positional value, if there is one.
  bool ReadPositional(double& value);
  // The next positional value that has not been taken; empty: none is left.
  std::string NextPositional();

  void Refuse(std::string message);  // unless something was refused before
  Status Finish();

 private:
  const std::string* Take(std::string_view key);
  void Illegal(std::string_view key, std::string_view value,
               std::string_view expected);

  const Specification& specification_;
  std::string what_;
  std::vector<bool> taken_;
  Status status_;
};

// The whole of `text` as a number.
bool ParseNumber(std::string_view text, double& value);
bool ParseInteger(std::string_view text, int64_t& value);

}  // namespace mxc::train
