// SPDX-License-Identifier: Apache-2.0
// Checks rows of one table, field by field, by row_fields.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/artifact/row_fields.h"
#include "runtime/base/bytes.h"

namespace mxc::runtime {

class FieldsCheck {
 public:
  // Rows of the tables, and of the entry that the rows belong to.
  struct Sizes {
    std::span<const char> strings;
    uint64_t* text_bytes_left;  // of the strings that rows may name yet
    uint64_t buffers = 0, steps = 0, operands = 0;
    uint64_t buffers_of_entry = 0, steps_of_entry = 0;
  };

  FieldsCheck(std::span<const Field> fields, const Sizes& sizes)
      : fields_(fields), sizes_(sizes), totals_(fields.size()) {}

  // What is wrong with the next row, "its field 'name' is no string"; empty: nothing.
  std::string Complaint(const std::byte* row);

 private:
  // Adds amounts to `total`.
  bool Fits(const Field& field, const std::byte* at, uint64_t& total) const;
  bool IsText(mxc_string s) const;

  std::span<const Field> fields_;
  Sizes sizes_;
  std::vector<uint64_t> totals_;  // of amounts, by field
};

}  // namespace mxc::runtime
