// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/fields_check.h"

#include <cstring>

namespace mxc::runtime {
namespace {

template <class T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Negative ones of eight bytes become larger than any limit.
uint64_t LoadNumber(const std::byte* at, size_t width) {
  uint64_t value = 0;
  std::memcpy(&value, at, width);
  return value;
}

// Adds the field's numbers to what the rows before have.
bool AddAmounts(const Field& field, const std::byte* at, uint64_t& total) {
  for (size_t i = 0; i < field.size; i += field.width) {
    const uint64_t amount = LoadNumber(at + i, field.width);
    if (amount > field.limit) return false;
    total += amount;
    if (total > kMostAmount) return false;
  }
  return true;
}

bool AreZeros(const Field& field, const std::byte* at) {
  for (size_t i = 0; i < field.size; ++i) {
    if (at[i] != std::byte{0}) return false;
  }
  return true;
}

const char* ComplaintOf(FieldKind kind) {
  switch (kind) {
    case FieldKind::kText:
      return "is no string";
    case FieldKind::kBuffers:
    case FieldKind::kSteps:
    case FieldKind::kOperands:
      return "leaves its table";
    case FieldKind::kBufferIndex:
      return "is no buffer of its entry";
    case FieldKind::kStepIndex:
      return "is no step of its entry";
    case FieldKind::kBelow:
      return "is unknown";
    case FieldKind::kAmount:
      return "is impossible";
    case FieldKind::kReserved:
      return "is not zero";
    case FieldKind::kByKind:
      break;
  }
  return "";
}

}  // namespace

std::string FieldsCheck::Complaint(const std::byte* row) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    if (Fits(field, row + field.offset, totals_[i])) continue;
    return std::string("its field '") + field.name + "' " +
           ComplaintOf(field.kind);
  }
  return "";
}

bool FieldsCheck::Fits(const Field& field, const std::byte* at,
                       uint64_t& total) const {
  const auto in_table = [&](uint64_t rows) {
    const auto range = Load<mxc_range>(at);
    return Within(range.first, range.count, rows);
  };
  switch (field.kind) {
    case FieldKind::kText:
      return IsText(Load<mxc_string>(at));
    case FieldKind::kBuffers:
      return in_table(sizes_.buffers);
    case FieldKind::kSteps:
      return in_table(sizes_.steps);
    case FieldKind::kOperands:
      return in_table(sizes_.operands);
    case FieldKind::kBufferIndex:
      return LoadNumber(at, field.width) < sizes_.buffers_of_entry;
    case FieldKind::kStepIndex: {
      const uint64_t index = LoadNumber(at, field.width);
      return index == 0 || index < sizes_.steps_of_entry;
    }
    case FieldKind::kBelow:
      return LoadNumber(at, field.width) < field.limit;
    case FieldKind::kAmount:
      return AddAmounts(field, at, total);
    case FieldKind::kReserved:
      return AreZeros(field, at);
    case FieldKind::kByKind:
      break;
  }
  return true;
}

bool FieldsCheck::IsText(mxc_string s) const {
  if (s.first == 0 && s.count == 0) return true;  // none
  if (!Within(s.first, uint64_t{s.count} + 1, sizes_.strings.size()) ||
      sizes_.strings[uint64_t{s.first} + s.count] != '\0' ||
      s.count > *sizes_.text_bytes_left) {
    return false;
  }
  *sizes_.text_bytes_left -= s.count;
  return true;
}

}  // namespace mxc::runtime
