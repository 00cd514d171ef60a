// SPDX-License-Identifier: Apache-2.0
// How a parameter's name becomes its name in another program's file: a pattern
// takes it apart, a form is filled with what the pattern's variables stand for.
//
//   layer${i}_inner_*  →  encoder.layer.${i - 1}.intermediate.dense.*
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/native/expression.h"

namespace mxc {

// What a pattern's variables stand for in one name.
struct Captured {
  Scope scope;
  std::string rest;  // what * stands for
};

// None where `name` is none of the pattern's, whose ${…} are closed and name
// something: ${i} is a number of at most nine digits, a * at the end the rest.
std::optional<Captured> Match(std::string_view pattern, std::string_view name);

// "{,bert.}x.{weight,gamma}" stands for x.weight, x.gamma, bert.x.weight and
// bert.x.gamma. Empty where it stands for more than 64, or has over 32 braces.
std::vector<std::string> Alternatives(const std::string& text);

// The name that a form stands for; empty where its expressions have no value.
std::string NameOf(const std::string& form, const Captured& captured,
                   Budget& budget);

}  // namespace mxc
