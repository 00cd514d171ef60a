// SPDX-License-Identifier: Apache-2.0
// The shared cases of MXNet's training code.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/shared.h"

namespace mxc {

// The rows of a file in cases/mxnet-training; none, and a message, where the
// shared cases are absent.
inline std::vector<nlohmann::json> TrainingCases(const std::string& file) {
  std::vector<nlohmann::json> rows;
  std::istringstream text(
      ReadText(SharedFolder() + "/cases/mxnet-training/" + file));
  for (std::string line; std::getline(text, line);) {
    // Python writes what JSON lacks.
    for (size_t at; (at = line.find("[NaN]")) != line.npos;) {
      line.replace(at, 5, "[null]");
    }
    rows.push_back(nlohmann::json::parse(line));
  }
  if (rows.empty()) MESSAGE("skipped: no shared cases");
  return rows;
}

// A value as the command line spells it.
inline std::string Spelled(const nlohmann::json& value) {
  if (value.is_string()) return value;
  if (value.is_null()) return "None";
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const nlohmann::json& item : value) {
    text += (text.empty() ? "" : ",") + Spelled(item);
  }
  return text;
}

// "name:key=value:key=value"
inline std::string Spelled(const std::string& name,
                           const nlohmann::json& arguments) {
  std::string text = name;
  for (const auto& [key, value] : arguments.items()) {
    text += ":" + key + "=" + Spelled(value);
  }
  return text;
}

}  // namespace mxc
