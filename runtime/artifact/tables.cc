// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/tables.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "runtime/base/element.h"

namespace mxc::runtime {
namespace {

Status Corrupt(const std::string& place, const char* what) {
  return Fail(StatusCode::kCorrupt, "%s: %s", place.c_str(), what);
}

#define REQUIRE(condition, place, what) \
  if (!(condition)) return Corrupt(place, what)

// Bytes of the elements of a buffer or state, row-major without padding.
template <class Row>
std::optional<uint64_t> DenseBytes(const Row& row) {
  std::optional<uint64_t> bytes = ElementSize(row.dtype);
  for (int axis = 0; axis < row.rank && bytes; ++axis) {
    if (row.dims[axis] < 0) return std::nullopt;
    bytes = Multiply(*bytes, static_cast<uint64_t>(row.dims[axis]));
  }
  return bytes;
}

bool SameType(const mxc_buffer& buffer, const mxc_state& state) {
  return buffer.dtype == state.dtype && buffer.rank == state.rank &&
         std::equal(buffer.dims, buffer.dims + buffer.rank, state.dims);
}

bool InRange(mxc_range range, size_t rows) {
  return Within(range.first, range.count, rows);
}

}  // namespace

uint64_t ElementSize(uint8_t dtype) {
  const auto type = ElementTypeFromFlag(dtype);
  return type ? static_cast<uint64_t>(ElementBytes(*type)) : 0;
}

// One check for each kind of row. `place` says where in the tables it stands.
class TablesCheck {
 public:
  TablesCheck(Tables& tables, uint64_t weight_bytes)
      : tables_(tables), weight_bytes_(weight_bytes) {}

  Status Header();
  Status Rows();

 private:
  Status Owners();
  Status States();
  Status State(const mxc_state& state, const std::string& place);
  Status Entry(const mxc_entry& entry, const std::string& place);
  Status Preparation();
  Status Interface(const mxc_entry& entry, const std::string& place);
  Status Buffer(const mxc_entry& entry, uint32_t index,
                const std::string& place);
  Status Storage(const mxc_entry& entry, uint32_t index,
                 const std::string& place);
  std::pair<uint64_t, const char*> RegionOf(const mxc_entry& entry,
                                            const mxc_buffer& buffer) const;
  Status StateBuffer(const mxc_buffer& buffer, const std::string& place);
  Status Step(const mxc_entry& entry, const mxc_step& step,
              const std::string& place);
  Status Operands(const mxc_entry& entry, const mxc_step& step,
                  const std::string& place);
  bool IsText(mxc_string s) const {
    return Within(s.first, uint64_t{s.count} + 1, string_bytes_) &&
           tables_.strings_[uint64_t{s.first} + s.count] == '\0';
  }

  Tables& tables_;
  const uint64_t weight_bytes_;
  uint64_t string_bytes_ = 0;
};

StatusOr<Tables> Tables::Parse(Bytes bytes, uint64_t weight_bytes) {
  Tables tables;
  tables.storage_.resize((bytes.size() + 7) / 8);
  if (!bytes.empty()) {
    std::memcpy(tables.storage_.data(), bytes.data(), bytes.size());
  }
  TablesCheck check(tables, weight_bytes);
  MXC_RT_RETURN_IF_ERROR(check.Header());
  MXC_RT_RETURN_IF_ERROR(check.Rows());
  tables.NoteReads();
  return tables;
}

void Tables::NoteReads() {
  read_.resize(buffers_.size());
  for (const mxc_entry& entry : entries_) {
    const auto buffers = Buffers(entry);
    for (const mxc_step& step : Steps(entry)) {
      for (const uint32_t b : Operands(step).first(step.input_count)) {
        read_[entry.buffers.first + b] = true;
        read_[entry.buffers.first + buffers[b].root] = true;
      }
    }
    for (const uint32_t b : Outputs(entry)) {
      read_[entry.buffers.first + buffers[b].root] = true;
    }
  }
}

Status TablesCheck::Header() {
  const Bytes bytes = std::as_bytes(std::span(tables_.storage_));
  const auto header = ArrayAt<mxc_tables>(bytes, 0, 1);
  REQUIRE(header, "tables", "shorter than their header");
  const mxc_tables& h = header->front();
  REQUIRE(h.magic == MXC_TABLES_MAGIC, "tables", "no magic number");
  REQUIRE(h.abi_version == MXC_ABI_VERSION, "tables", "wrong version");
  const auto entries =
      ArrayAt<mxc_entry>(bytes, h.entries_offset, h.entry_count);
  const auto buffers =
      ArrayAt<mxc_buffer>(bytes, h.buffers_offset, h.buffer_count);
  const auto steps = ArrayAt<mxc_step>(bytes, h.steps_offset, h.step_count);
  const auto operands =
      ArrayAt<uint32_t>(bytes, h.operands_offset, h.operand_count);
  const auto strings = ArrayAt<char>(bytes, h.strings_offset, h.string_bytes);
  const auto states = ArrayAt<mxc_state>(bytes, h.states_offset, h.state_count);
  REQUIRE(entries && buffers && steps && operands && strings && states,
          "tables", "a table does not lie within the section");
  tables_.header_ = &h;
  tables_.states_ = *states;
  tables_.entries_ = *entries;
  tables_.buffers_ = *buffers;
  tables_.steps_ = *steps;
  tables_.operands_ = *operands;
  tables_.strings_ = strings->data();
  string_bytes_ = strings->size();
  return {};
}

Status TablesCheck::Rows() {
  REQUIRE(!tables_.entries_.empty(), "tables", "no entry");
  MXC_RT_RETURN_IF_ERROR(Owners());
  MXC_RT_RETURN_IF_ERROR(States());
  for (size_t i = 0; i < tables_.entries_.size(); ++i) {
    const std::string place = Format("entry %zu", i);
    MXC_RT_RETURN_IF_ERROR(Entry(tables_.entries_[i], place));
  }
  return Preparation();
}

Status TablesCheck::Preparation() {
  const uint64_t prepared = tables_.header_->prepared_bytes;
  if (prepared == 0) return {};
  const size_t last = tables_.entries_.size() - 1;
  const mxc_entry& entry = tables_.entries_[last];
  const std::string place = Format("entry %zu", last);
  REQUIRE(last > 0 && entry.arena_bytes == prepared, place,
          "does not write the prepared region");
  for (const mxc_buffer& buffer : tables_.Buffers(entry)) {
    REQUIRE(buffer.kind == MXC_BUFFER_WEIGHT ||
                buffer.kind == MXC_BUFFER_INTERNAL ||
                buffer.kind == MXC_BUFFER_ALIAS,
            place, "needs more than weights to prepare weights");
  }
  tables_.preparation_ = &entry;
  tables_.entries_ = tables_.entries_.first(last);
  return {};
}

// No row has two owners, so that whatever is allocated for each use of a row
// stays in proportion to the file.
Status TablesCheck::Owners() {
  uint64_t buffers = 0, steps = 0, operands = 0;
  for (const mxc_entry& entry : tables_.entries_) {
    buffers += entry.buffers.count;
    steps += entry.steps.count;
    operands += uint64_t{entry.inputs.count} + entry.outputs.count;
  }
  for (const mxc_step& step : tables_.steps_) operands += step.operands.count;
  REQUIRE(buffers <= tables_.buffers_.size() &&
              steps <= tables_.steps_.size() &&
              operands <= tables_.operands_.size(),
          "tables", "rows with two owners");
  return {};
}

Status TablesCheck::States() {
  std::set<std::string_view> names;
  uint64_t end = 0;  // of the states before
  for (size_t i = 0; i < tables_.states_.size(); ++i) {
    const mxc_state& state = tables_.states_[i];
    const std::string place = Format("state %zu", i);
    MXC_RT_RETURN_IF_ERROR(State(state, place));
    REQUIRE(names.insert(tables_.Text(state.name)).second, place,
            "its name is another state's");
    REQUIRE(state.offset >= end, place, "lies over the state before it");
    end = state.offset + state.bytes;
  }
  return {};
}

Status TablesCheck::State(const mxc_state& state, const std::string& place) {
  REQUIRE(IsText(state.name), place, "its name is no string");
  REQUIRE(state.rank <= MXC_MAX_RANK, place, "too many axes");
  REQUIRE(ElementSize(state.dtype) != 0, place, "unknown type");
  REQUIRE(DenseBytes(state) == state.bytes, place, "is not dense");
  REQUIRE(state.offset % MXC_ARENA_ALIGNMENT == 0, place, "not aligned");
  REQUIRE(Within(state.offset, state.bytes, tables_.header_->state_bytes),
          place, "leaves the state region");
  if (state.initial == MXC_ZEROS) return {};
  REQUIRE(state.initial % MXC_ARENA_ALIGNMENT == 0, place,
          "its initial value is not aligned");
  REQUIRE(Within(state.initial, state.bytes, weight_bytes_), place,
          "its initial value leaves the weights");
  return {};
}

Status TablesCheck::Entry(const mxc_entry& entry, const std::string& place) {
  REQUIRE(IsText(entry.name), place, "its name is no string");
  REQUIRE(InRange(entry.buffers, tables_.buffers_.size()) &&
              InRange(entry.steps, tables_.steps_.size()) &&
              InRange(entry.inputs, tables_.operands_.size()) &&
              InRange(entry.outputs, tables_.operands_.size()),
          place, "a range leaves its table");
  REQUIRE(entry.batch >= 0, place, "negative batch");
  for (uint32_t i = 0; i < entry.buffers.count; ++i) {
    MXC_RT_RETURN_IF_ERROR(
        Buffer(entry, i, Format("%s, buffer %u", place.c_str(), i)));
  }
  for (uint32_t i = 0; i < entry.steps.count; ++i) {
    MXC_RT_RETURN_IF_ERROR(Step(entry, tables_.Steps(entry)[i],
                                Format("%s, step %u", place.c_str(), i)));
  }
  return Interface(entry, place);
}

Status TablesCheck::Interface(const mxc_entry& entry,
                              const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  std::set<uint64_t> states;
  for (const mxc_buffer& buffer : buffers) {
    REQUIRE(
        buffer.kind != MXC_BUFFER_STATE || states.insert(buffer.offset).second,
        place, "two buffers are one state");
  }
  std::vector<bool> named(buffers.size());
  for (const uint32_t index : tables_.Inputs(entry)) {
    REQUIRE(index < buffers.size() && buffers[index].kind == MXC_BUFFER_INPUT &&
                !named[index],
            place, "its inputs are not its input buffers");
    named[index] = true;
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    REQUIRE(buffers[i].kind != MXC_BUFFER_INPUT || named[i], place,
            "an input buffer is not among its inputs");
  }
  for (const uint32_t index : tables_.Outputs(entry)) {
    REQUIRE(index < buffers.size() &&
                DenseBytes(buffers[index]) == buffers[index].bytes,
            place, "an output is no dense buffer");
  }
  return {};
}

Status TablesCheck::Buffer(const mxc_entry& entry, uint32_t index,
                           const std::string& place) {
  const mxc_buffer& buffer = tables_.Buffers(entry)[index];
  REQUIRE(IsText(buffer.name), place, "its name is no string");
  REQUIRE(buffer.rank <= MXC_MAX_RANK, place, "too many axes");
  REQUIRE(ElementSize(buffer.dtype) != 0, place, "unknown type");
  const std::optional<uint64_t> dense = DenseBytes(buffer);
  REQUIRE(dense && *dense <= buffer.bytes, place, "smaller than its shape");
  const int64_t first = buffer.first_step, last = buffer.last_step;
  const bool unused = first == -1 && last == -1;
  REQUIRE(unused || (0 <= first && first <= last && last < entry.steps.count),
          place, "its live range leaves the steps");
  return Storage(entry, index, place);
}

Status TablesCheck::Storage(const mxc_entry& entry, uint32_t index,
                            const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  const mxc_buffer& buffer = buffers[index];
  REQUIRE(buffer.kind <= MXC_BUFFER_PREPARED, place, "unknown kind");
  if (buffer.kind == MXC_BUFFER_ALIAS) {
    REQUIRE(buffer.root < buffers.size() &&
                buffers[buffer.root].kind != MXC_BUFFER_ALIAS,
            place, "its root is no buffer with bytes of its own");
    REQUIRE(Within(buffer.offset, buffer.bytes, buffers[buffer.root].bytes) &&
                buffer.offset % ElementSize(buffer.dtype) == 0,
            place, "does not lie within its root");
    return {};
  }
  REQUIRE(buffer.root == index, place, "its root is another buffer");
  if (buffer.kind == MXC_BUFFER_INPUT || buffer.kind == MXC_BUFFER_OUTPUT) {
    REQUIRE(buffer.offset == 0 && DenseBytes(buffer) == buffer.bytes, place,
            "an input or output that is not dense");
    return {};
  }
  if (buffer.kind == MXC_BUFFER_STATE) return StateBuffer(buffer, place);
  REQUIRE(buffer.offset % MXC_ARENA_ALIGNMENT == 0, place, "not aligned");
  const auto [bytes, what] = RegionOf(entry, buffer);
  REQUIRE(Within(buffer.offset, buffer.bytes, bytes), place, what);
  return {};
}

// What the buffer's offset counts in, and the complaint if it does not lie
// there.
std::pair<uint64_t, const char*> TablesCheck::RegionOf(
    const mxc_entry& entry, const mxc_buffer& buffer) const {
  if (buffer.kind == MXC_BUFFER_WEIGHT) {
    return {weight_bytes_, "leaves the weights"};
  }
  if (buffer.kind == MXC_BUFFER_PREPARED) {
    return {tables_.header_->prepared_bytes, "leaves the prepared region"};
  }
  return {entry.arena_bytes, "leaves the arena"};
}

Status TablesCheck::StateBuffer(const mxc_buffer& buffer,
                                const std::string& place) {
  REQUIRE(buffer.offset < tables_.states_.size(), place, "no such state");
  const mxc_state& state = tables_.states_[buffer.offset];
  REQUIRE(SameType(buffer, state) && buffer.bytes == state.bytes, place,
          "is not of its state's type");
  return {};
}

Status TablesCheck::Step(const mxc_entry& entry, const mxc_step& step,
                         const std::string& place) {
  REQUIRE(IsText(step.name) && IsText(step.kernel_name), place,
          "a name is no string");
  REQUIRE(0 <= step.tasks && step.tasks <= MXC_MAX_TASKS, place,
          "impossible number of tasks");
  REQUIRE(step.tasks == 0 || step.kernel < tables_.header_->kernel_count, place,
          "no such kernel");
  REQUIRE(InRange(step.operands, tables_.operands_.size()), place,
          "its operands leave their table");
  REQUIRE(step.input_count <= step.operands.count, place,
          "more inputs than operands");
  REQUIRE(step.scratch_bytes <= entry.scratch_bytes, place,
          "more scratch than its entry has");
  return Operands(entry, step, place);
}

Status TablesCheck::Operands(const mxc_entry& entry, const mxc_step& step,
                             const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  const auto operands = tables_.Operands(step);
  for (size_t i = 0; i < operands.size(); ++i) {
    REQUIRE(operands[i] < buffers.size(), place, "no such operand");
    if (i < step.input_count || step.tasks == 0) continue;
    const uint8_t kind = buffers[buffers[operands[i]].root].kind;
    REQUIRE(kind != MXC_BUFFER_INPUT && kind != MXC_BUFFER_WEIGHT &&
                kind != MXC_BUFFER_PREPARED,
            place, "writes to an input or a weight");
  }
  return {};
}

#undef REQUIRE

}  // namespace mxc::runtime
