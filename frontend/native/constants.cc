// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/constants.h"

namespace mxc {

void EvaluateConstants(const JsonDocument& document, Budget& budget,
                       Scope& scope, JsonDiagnostics& errors) {
  const JsonValue* constants = document.root().Find("constants");
  if (constants == nullptr ||
      !errors.Expect(*constants, JsonValue::Kind::kObject, "'constants'")) {
    return;
  }
  for (const JsonMember& member : constants->members) {
    Evaluated value = Substitute(member.value, scope, budget);
    if (!value.error.empty()) errors.Fail(member.value, "{}", value.error);
    scope.values[member.key] = std::move(value.value);
  }
}

}  // namespace mxc
