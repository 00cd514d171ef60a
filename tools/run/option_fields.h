// SPDX-License-Identifier: Apache-2.0
// Settings of a training (runtime/fit/fields.h) as options of a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <string>
#include <vector>

#include "runtime/fit/fields.h"
#include "tools/usage/values.h"

namespace mxc::run {

// The described values must outlive the parsing.
class OptionFields {
 public:
  explicit OptionFields(CLI::App& app) : app_(app) {}

  void Group(const char* name) { app_.option_defaults()->group(name); }

  template <class T>
  void Number(const char* name, T& value, const fit::Limits& limits,
              const std::string& doc, const fit::Told& told = {}) {
    CLI::Option* option = app_.add_option(Flagged(name), value, doc);
    if (limits.least) option->check(CheckOf<T>(limits));
    if (told.shown) option->capture_default_str();
    if (told.type != nullptr) option->type_name(told.type);
  }
  void Flag(const char* name, bool& value, const std::string& doc) {
    app_.add_flag(Flagged(name), value, doc);
  }
  void Text(const char* name, std::string& value, const char* type,
            const std::string& doc, fit::Check check = nullptr) {
    CLI::Option* option = app_.add_option(Flagged(name), value, doc);
    if (check != nullptr) option->check(check);
    option->type_name(type);
    if (!value.empty()) option->capture_default_str();
  }
  void List(const char* name, std::vector<std::string>& values,
            const char* type, const std::string& doc) {
    app_.add_option(Flagged(name), values, doc)
        ->type_name(type)
        ->allow_extra_args(false);
  }
  void Choice(const char* name, std::string& value,
              std::vector<std::string> names, const std::string& doc) {
    app_.add_option(Flagged(name), value, doc)
        ->check(OneOf(std::move(names)))
        ->capture_default_str();
  }

 private:
  static std::string Flagged(const char* name) {
    return "--" + std::string(name);
  }
  template <class T>
  static CLI::Validator CheckOf(const fit::Limits& limits) {
    if (limits.inside) return Fraction();
    if constexpr (std::integral<T>) {
      const auto least = static_cast<int64_t>(*limits.least);
      if (!limits.most) return AtLeast(least);
      return Between(least, static_cast<int64_t>(*limits.most));
    } else {
      return NotNegative();
    }
  }

  CLI::App& app_;
};

}  // namespace mxc::run
