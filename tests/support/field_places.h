// SPDX-License-Identifier: Apache-2.0
// Where the numbers of an artifact's tables lie, row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/row_fields.h"

namespace mxc::test {

struct FieldPlace {
  const runtime::Field* field;
  size_t at;  // bytes, in the section
};

// Every field of every row; `tables` are sound.
inline std::vector<FieldPlace> FieldPlaces(const std::string& tables) {
  mxc_tables header;
  std::memcpy(&header, tables.data(), sizeof header);
  std::vector<FieldPlace> places;
  const auto add = [&](uint64_t offset, uint64_t count, size_t row_bytes,
                       std::span<const runtime::Field> fields) {
    for (uint64_t row = 0; row < count; ++row) {
      for (const runtime::Field& field : fields) {
        places.push_back({&field, offset + row * row_bytes + field.offset});
      }
    }
  };
  add(0, 1, sizeof header, runtime::kHeaderFields);
  add(header.entries_offset, header.entry_count, sizeof(mxc_entry),
      runtime::kEntryFields);
  add(header.buffers_offset, header.buffer_count, sizeof(mxc_buffer),
      runtime::kBufferFields);
  add(header.steps_offset, header.step_count, sizeof(mxc_step),
      runtime::kStepFields);
  add(header.states_offset, header.state_count, sizeof(mxc_state),
      runtime::kStateFields);
  add(header.imports_offset, header.import_count, sizeof(mxc_import),
      runtime::kImportFields);
  return places;
}

}  // namespace mxc::test
