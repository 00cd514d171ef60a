// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/attribute_text.h"

namespace mxc {

std::string AttributeText(const nlohmann::json& value) {
  if (value.is_string()) return value;
  if (value.is_boolean()) return value ? "True" : "False";
  if (value.is_null()) return "None";
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const nlohmann::json& item : value) {
    text += (text.empty() ? "" : ",") + AttributeText(item);
  }
  return text;
}

}  // namespace mxc
