// SPDX-License-Identifier: Apache-2.0
// Values for all parameters of a network: which initializer each of them gets
// (MXNet's Initializer.__call__, Mixed and Load).
#pragma once

#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/formats/array.h"
#include "runtime/train/initializer.h"

namespace mxc::train {

class ParameterInitializer {
 public:
  // Parts separated by ';', asked in this order:
  //   load:FILE        arrays of a .params file, by name; shapes must agree
  //   PATTERN=>HOW     for names that begin with a match of the expression
  //   HOW              for all others, as ParseInitializer reads it
  // "xavier", "load:a.params;.*_up_=>bilinear;xavier:magnitude=2".
  static StatusOr<ParameterInitializer> Parse(std::string_view text);

  // `arg:` and `aux:` before a name are left out.
  void Load(std::vector<runtime::NamedArray> arrays);

  // `annotation` is the variable's __init__, which may be empty; it wins over
  // the name, a loaded array wins over both.
  Status Fill(const Target& target, std::string_view annotation,
              NameRules rules = NameRules::kAny) const;

 private:
  struct Pattern {
    std::regex expression;
    InitializerRef initializer;
  };

  Status AddPart(std::string_view part);
  InitializerRef Choose(const std::string& name) const;  // null: none

  std::map<std::string, runtime::Array> loaded_;
  std::vector<Pattern> patterns_;
  InitializerRef otherwise_;  // may be null
};

}  // namespace mxc::train
