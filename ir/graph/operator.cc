// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/operator.h"

#include <utility>

namespace mxc {
namespace {

// The fields of a default-constructed attribute struct, in order.
class Defaults : public Fields {
 public:
  struct Default {
    std::string text;
    bool required;
  };

  void Visit(Field& field) override {
    fields.push_back({PrintField(field), field.required});
  }
  std::vector<Default> fields;
};

}  // namespace

Result<AttrsPtr> LegalAttrs(const Operator& op,
                            std::span<const AttrText> texts) {
  std::vector<AttrError> errors;
  AttrsPtr attrs = op.parse(texts, errors);
  if (!errors.empty()) return Error({}, "{}", errors[0].message);
  if (op.check) {
    if (const auto violated = op.check(attrs.get())) {
      return Error({}, "{}", *violated);
    }
  }
  return attrs;
}

std::vector<AttrText> StatedAttrs(const Operator& op, const void* attrs) {
  Defaults defaults;
  op.describe(defaults);
  std::vector<AttrText> all = op.print(attrs), stated;
  MXC_CHECK(all.size() == defaults.fields.size(), "operator '{}'", op.name);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [text, required] = defaults.fields[i];
    if (required || all[i].second != text) stated.push_back(std::move(all[i]));
  }
  return stated;
}

}  // namespace mxc
