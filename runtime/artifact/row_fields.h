// SPDX-License-Identifier: Apache-2.0
// What each field of the tables may hold, whatever its row is for; a field that
// is not described does not compile. Rules about several fields, or for rows of
// one kind, stand in check_*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "runtime/abi/abi.h"
#include "runtime/base/element.h"

namespace mxc::runtime {

enum class FieldKind : uint8_t {
  kText,         // in the table of strings, a zero byte behind it
  kBuffers,      // a range of rows of that table
  kSteps,        // the same
  kOperands,     // the same
  kBufferIndex,  // a row of the entry
  kStepIndex,    // the same; 0 where the row needs none
  kBelow,        // one of so many, from 0 on
  kAmount,       // at most so much; all rows together at most kMostAmount
  kReserved,     // zeros
  kByKind,       // what the rules for the row's kind say
};

struct Field {
  const char* name;
  size_t offset, size;  // bytes, in the row
  size_t width;         // of one number
  FieldKind kind;
  uint64_t limit = 0;
};

// No machine has so many bytes, nor computes so much; the sum of eight fits an
// int64_t.
inline constexpr uint64_t kMostAmount = uint64_t{1} << 60;

#define MXC_FIELD(Row, member, ...)                               \
  Field {                                                         \
    #member, offsetof(Row, member), sizeof(Row::member),          \
        sizeof(std::remove_all_extents_t<decltype(Row::member)>), \
        FieldKind::__VA_ARGS__                                    \
  }

inline constexpr Field kHeaderFields[] = {
    MXC_FIELD(mxc_tables, magic, kByKind),
    MXC_FIELD(mxc_tables, abi_version, kByKind),
    MXC_FIELD(mxc_tables, kernel_count, kByKind),
    MXC_FIELD(mxc_tables, required_features, kByKind),
    MXC_FIELD(mxc_tables, entries_offset, kByKind),
    MXC_FIELD(mxc_tables, entry_count, kByKind),
    MXC_FIELD(mxc_tables, buffers_offset, kByKind),
    MXC_FIELD(mxc_tables, buffer_count, kByKind),
    MXC_FIELD(mxc_tables, steps_offset, kByKind),
    MXC_FIELD(mxc_tables, step_count, kByKind),
    MXC_FIELD(mxc_tables, operands_offset, kByKind),
    MXC_FIELD(mxc_tables, operand_count, kByKind),
    MXC_FIELD(mxc_tables, states_offset, kByKind),
    MXC_FIELD(mxc_tables, state_count, kByKind),
    MXC_FIELD(mxc_tables, imports_offset, kByKind),
    MXC_FIELD(mxc_tables, import_count, kByKind),
    MXC_FIELD(mxc_tables, state_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_tables, strings_offset, kByKind),
    MXC_FIELD(mxc_tables, string_bytes, kByKind),
    MXC_FIELD(mxc_tables, prepared_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_tables, device, kText),
};

inline constexpr Field kEntryFields[] = {
    MXC_FIELD(mxc_entry, name, kText),
    MXC_FIELD(mxc_entry, buffers, kBuffers),
    MXC_FIELD(mxc_entry, steps, kSteps),
    MXC_FIELD(mxc_entry, inputs, kOperands),
    MXC_FIELD(mxc_entry, outputs, kOperands),
    MXC_FIELD(mxc_entry, carries, kOperands),
    MXC_FIELD(mxc_entry, batch, kAmount, kMostAmount),
    MXC_FIELD(mxc_entry, arena_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_entry, scratch_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_entry, activation_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_entry, lower_bound_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_entry, naive_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_entry, kind, kBelow, MXC_ENTRY_KIND_COUNT),
    MXC_FIELD(mxc_entry, index, kByKind),
    MXC_FIELD(mxc_entry, length, kAmount, kMostAmount),
    MXC_FIELD(mxc_entry, host_arena_bytes, kAmount, kMostAmount),
};

inline constexpr Field kBufferFields[] = {
    MXC_FIELD(mxc_buffer, name, kText),
    MXC_FIELD(mxc_buffer, dims, kAmount, kMostAmount),
    MXC_FIELD(mxc_buffer, rank, kBelow, MXC_MAX_RANK + 1),
    MXC_FIELD(mxc_buffer, dtype, kBelow, std::size(kElementFacts)),
    MXC_FIELD(mxc_buffer, kind, kBelow, MXC_BUFFER_WINDOW + 1),
    MXC_FIELD(mxc_buffer, gaps, kBelow, 2),
    MXC_FIELD(mxc_buffer, root, kBufferIndex),
    MXC_FIELD(mxc_buffer, offset, kAmount, kMostAmount),
    MXC_FIELD(mxc_buffer, bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_buffer, first_step, kByKind),
    MXC_FIELD(mxc_buffer, last_step, kByKind),
    MXC_FIELD(mxc_buffer, place, kBelow, MXC_PLACE_COUNT),
    MXC_FIELD(mxc_buffer, role, kBelow, MXC_TENSOR_ROLE_COUNT),
    MXC_FIELD(mxc_buffer, index, kByKind),
    MXC_FIELD(mxc_buffer, loop, kStepIndex),
    MXC_FIELD(mxc_buffer, advance, kByKind),
    MXC_FIELD(mxc_buffer, period, kByKind),
    MXC_FIELD(mxc_buffer, shift, kByKind),
};

inline constexpr Field kStepFields[] = {
    MXC_FIELD(mxc_step, name, kText),
    MXC_FIELD(mxc_step, kernel_name, kText),
    MXC_FIELD(mxc_step, attributes, kText),
    MXC_FIELD(mxc_step, kind, kBelow, MXC_STEP_KIND_COUNT),
    MXC_FIELD(mxc_step, flags, kByKind),
    MXC_FIELD(mxc_step, place, kBelow, MXC_PLACE_COUNT),
    MXC_FIELD(mxc_step, reserved, kReserved),
    MXC_FIELD(mxc_step, kernel, kByKind),
    MXC_FIELD(mxc_step, operands, kOperands),
    MXC_FIELD(mxc_step, input_count, kByKind),
    MXC_FIELD(mxc_step, body, kByKind),
    MXC_FIELD(mxc_step, other, kByKind),
    MXC_FIELD(mxc_step, after, kStepIndex),
    MXC_FIELD(mxc_step, tasks, kAmount, MXC_MAX_TASKS),
    MXC_FIELD(mxc_step, turns, kAmount, MXC_MAX_TURNS),
    MXC_FIELD(mxc_step, scratch_bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_step, flops, kAmount, kMostAmount),
    MXC_FIELD(mxc_step, bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_step, nanoseconds, kAmount, kMostAmount),
    MXC_FIELD(mxc_step, launch.grid, kAmount, MXC_MAX_TASKS),
    MXC_FIELD(mxc_step, launch.block, kAmount, MXC_MAX_TASKS),
    MXC_FIELD(mxc_step, launch.shared_bytes, kAmount, MXC_MAX_TASKS),
    MXC_FIELD(mxc_step, launch.reserved, kReserved),
};

inline constexpr Field kStateFields[] = {
    MXC_FIELD(mxc_state, name, kText),
    MXC_FIELD(mxc_state, dims, kAmount, kMostAmount),
    MXC_FIELD(mxc_state, rank, kBelow, MXC_MAX_RANK + 1),
    MXC_FIELD(mxc_state, dtype, kBelow, std::size(kElementFacts)),
    MXC_FIELD(mxc_state, role, kBelow, MXC_TENSOR_ROLE_COUNT),
    MXC_FIELD(mxc_state, reserved, kReserved),
    MXC_FIELD(mxc_state, index, kByKind),
    MXC_FIELD(mxc_state, offset, kAmount, kMostAmount),
    MXC_FIELD(mxc_state, bytes, kAmount, kMostAmount),
    MXC_FIELD(mxc_state, initial, kByKind),
};

inline constexpr Field kImportFields[] = {
    MXC_FIELD(mxc_import, name, kText),
    MXC_FIELD(mxc_import, version, kByKind),
    MXC_FIELD(mxc_import, reserved, kReserved),
};

#undef MXC_FIELD

// Returns whether every byte of a row belongs to one of the fields, in order.
constexpr bool Cover(std::span<const Field> fields, size_t row_size) {
  size_t end = 0;
  for (const Field& field : fields) {
    if (field.offset != end) return false;
    end += field.size;
  }
  return end == row_size;
}

static_assert(Cover(kHeaderFields, sizeof(mxc_tables)));
static_assert(Cover(kEntryFields, sizeof(mxc_entry)));
static_assert(Cover(kBufferFields, sizeof(mxc_buffer)));
static_assert(Cover(kStepFields, sizeof(mxc_step)));
static_assert(Cover(kStateFields, sizeof(mxc_state)));
static_assert(Cover(kImportFields, sizeof(mxc_import)));

}  // namespace mxc::runtime
