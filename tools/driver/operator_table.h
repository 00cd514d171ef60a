// SPDX-License-Identifier: Apache-2.0
// The operators as rows of names, inputs, outputs and attributes, from the
// schemas: for `mxc ops` and for languages that make functions of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ir/graph/operator.h"

namespace mxc {

// An attribute as a person reads it; `value` is the default.
struct AttributeRow {
  std::string name, type, value, doc;
  bool required, hint;
  double min, max;
};
std::vector<AttributeRow> AttributeRows(const Operator& op);

// Of an instance whose attributes are the defaults, and the least that is legal
// where there is none.
std::vector<std::string> InputNames(const Operator& op);
std::vector<std::string> OutputNames(const Operator& op);

// How an instance of the operator becomes code.
const char* FormOf(const Operator& op);

// "name", "aliases", "doc", "form", "inputs", "outputs", "attributes".
nlohmann::ordered_json OperatorRow(const Operator& op);
// {"operators": rows}, all but the internal ones.
nlohmann::ordered_json OperatorTable();

}  // namespace mxc
