// SPDX-License-Identifier: Apache-2.0
#include "frontend/protobuf/message.h"

#include <algorithm>

namespace mxc::protobuf {

bool EnumType::Has(int64_t value) const {
  return std::ranges::any_of(
      values, [&](const auto& word) { return word.second == value; });
}

const Field* MessageType::Find(uint64_t number) const {
  const auto found = std::ranges::lower_bound(
      fields, number, {},
      [](const Field& field) { return static_cast<uint64_t>(field.number); });
  if (found == fields.end() || static_cast<uint64_t>(found->number) != number) {
    return nullptr;
  }
  return &*found;
}

const Field* MessageType::Find(std::string_view wanted) const {
  const auto found = std::ranges::find_if(
      fields, [&](const Field& field) { return field.name == wanted; });
  return found == fields.end() ? nullptr : &*found;
}

MessageType TypeOf(const char* name, std::vector<Field> fields) {
  std::ranges::sort(fields, {}, &Field::number);
  return {name, std::move(fields)};
}

}  // namespace mxc::protobuf
