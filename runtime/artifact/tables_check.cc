// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/tables_check.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace mxc::runtime {

Status TablesCheck::Header() {
  const Bytes bytes = std::as_bytes(std::span(tables_.storage_));
  const auto header = ArrayAt<mxc_tables>(bytes, 0, 1);
  MXC_REQUIRE(header, "tables", "shorter than their header");
  const mxc_tables& h = header->front();
  MXC_REQUIRE(h.magic == MXC_TABLES_MAGIC, "tables", "no magic number");
  MXC_REQUIRE(h.abi_version == MXC_ABI_VERSION, "tables", "wrong version");
  const auto entries =
      ArrayAt<mxc_entry>(bytes, h.entries_offset, h.entry_count);
  const auto buffers =
      ArrayAt<mxc_buffer>(bytes, h.buffers_offset, h.buffer_count);
  const auto steps = ArrayAt<mxc_step>(bytes, h.steps_offset, h.step_count);
  const auto operands =
      ArrayAt<uint32_t>(bytes, h.operands_offset, h.operand_count);
  const auto strings = ArrayAt<char>(bytes, h.strings_offset, h.string_bytes);
  const auto states = ArrayAt<mxc_state>(bytes, h.states_offset, h.state_count);
  const auto imports =
      ArrayAt<mxc_import>(bytes, h.imports_offset, h.import_count);
  MXC_REQUIRE(
      entries && buffers && steps && operands && strings && states && imports,
      "tables", "a table does not lie within the section");
  tables_.header_ = &h;
  tables_.states_ = *states;
  tables_.imports_ = *imports;
  tables_.entries_ = *entries;
  tables_.buffers_ = *buffers;
  tables_.steps_ = *steps;
  tables_.operands_ = *operands;
  tables_.strings_ = strings->data();
  string_bytes_ = strings->size();
  return {};
}

Status TablesCheck::Rows() {
  MXC_REQUIRE(!tables_.entries_.empty(), "tables", "no entry");
  MXC_RT_RETURN_IF_ERROR(Owners());
  MXC_REQUIRE(IsText(tables_.header_->device), "tables",
              "its device's name is no string");
  MXC_RT_RETURN_IF_ERROR(States());
  for (size_t i = 0; i < tables_.imports_.size(); ++i) {
    MXC_REQUIRE(IsText(tables_.imports_[i].name), Format("import %zu", i),
                "its name is no string");
  }
  for (size_t i = 0; i < tables_.entries_.size(); ++i) {
    const std::string place = Format("entry %zu", i);
    MXC_RT_RETURN_IF_ERROR(Entry(tables_.entries_[i], place));
  }
  return Preparation();
}

Status TablesCheck::Preparation() {
  const uint64_t prepared = tables_.header_->prepared_bytes;
  const size_t last = tables_.entries_.size() - 1;
  for (size_t i = 0; i <= last; ++i) {
    const bool prepares = tables_.entries_[i].kind == MXC_ENTRY_PREPARE;
    MXC_REQUIRE(prepares == (prepared != 0 && i == last),
                Format("entry %zu", i),
                prepares ? "prepares what is no prepared region"
                         : "does not write the prepared region");
  }
  if (prepared == 0) return {};
  MXC_REQUIRE(last > 0, "tables", "no entry");
  const mxc_entry& entry = tables_.entries_[last];
  const std::string place = Format("entry %zu", last);
  MXC_REQUIRE(entry.arena_bytes == prepared, place,
              "does not write the prepared region");
  for (const mxc_buffer& buffer : tables_.Buffers(entry)) {
    MXC_REQUIRE(buffer.kind == MXC_BUFFER_WEIGHT ||
                    buffer.kind == MXC_BUFFER_INTERNAL ||
                    buffer.kind == MXC_BUFFER_ALIAS ||
                    buffer.kind == MXC_BUFFER_WINDOW,
                place, "needs more than weights to prepare weights");
    MXC_REQUIRE(buffer.place == MXC_PLACE_DEVICE, place,
                "prepares weights in another place");
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
    operands += uint64_t{entry.inputs.count} + entry.outputs.count +
                entry.carries.count;
  }
  for (const mxc_step& step : tables_.steps_) operands += step.operands.count;
  MXC_REQUIRE(buffers <= tables_.buffers_.size() &&
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
    MXC_REQUIRE(names.insert(tables_.Text(state.name)).second, place,
                "its name is another state's");
    MXC_REQUIRE(state.offset >= end, place, "lies over the state before it");
    end = state.offset + state.bytes;
  }
  return {};
}

Status TablesCheck::State(const mxc_state& state, const std::string& place) {
  MXC_REQUIRE(IsText(state.name), place, "its name is no string");
  MXC_REQUIRE(state.rank <= MXC_MAX_RANK, place, "too many axes");
  MXC_REQUIRE(ElementSize(state.dtype) != 0, place, "unknown type");
  MXC_REQUIRE(state.role < MXC_TENSOR_ROLE_COUNT, place, "unknown role");
  MXC_REQUIRE(DenseBytes(state) == state.bytes, place, "is not dense");
  MXC_REQUIRE(state.offset % MXC_ARENA_ALIGNMENT == 0, place, "not aligned");
  MXC_REQUIRE(Within(state.offset, state.bytes, tables_.header_->state_bytes),
              place, "leaves the state region");
  if (state.initial == MXC_ZEROS) return {};
  MXC_REQUIRE(state.initial % MXC_ARENA_ALIGNMENT == 0, place,
              "its initial value is not aligned");
  MXC_REQUIRE(Within(state.initial, state.bytes, weight_bytes_), place,
              "its initial value leaves the weights");
  return {};
}

Status TablesCheck::Entry(const mxc_entry& entry, const std::string& place) {
  MXC_REQUIRE(IsText(entry.name), place, "its name is no string");
  MXC_REQUIRE(InRange(entry.buffers, tables_.buffers_.size()) &&
                  InRange(entry.steps, tables_.steps_.size()) &&
                  InRange(entry.inputs, tables_.operands_.size()) &&
                  InRange(entry.outputs, tables_.operands_.size()) &&
                  InRange(entry.carries, tables_.operands_.size()),
              place, "a range leaves its table");
  MXC_REQUIRE(entry.kind < MXC_ENTRY_KIND_COUNT, place, "unknown kind");
  MXC_REQUIRE(entry.batch >= 0 && entry.length >= 0, place,
              "negative batch or length");
  MXC_RT_RETURN_IF_ERROR(Blocks(entry, place));
  for (uint32_t i = 0; i < entry.buffers.count; ++i) {
    MXC_RT_RETURN_IF_ERROR(
        Buffer(entry, i, Format("%s, buffer %u", place.c_str(), i)));
  }
  for (uint32_t i = 0; i < entry.steps.count; ++i) {
    MXC_RT_RETURN_IF_ERROR(
        Step(entry, i, Format("%s, step %u", place.c_str(), i)));
  }
  return Interface(entry, place);
}

Status TablesCheck::Interface(const mxc_entry& entry,
                              const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  std::set<uint64_t> states;
  for (const mxc_buffer& buffer : buffers) {
    MXC_REQUIRE(
        buffer.kind != MXC_BUFFER_STATE || states.insert(buffer.offset).second,
        place, "two buffers are one state");
  }
  std::vector<bool> named(buffers.size());
  for (const uint32_t index : tables_.Inputs(entry)) {
    MXC_REQUIRE(index < buffers.size() &&
                    buffers[index].kind == MXC_BUFFER_INPUT && !named[index],
                place, "its inputs are not its input buffers");
    named[index] = true;
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    MXC_REQUIRE(buffers[i].kind != MXC_BUFFER_INPUT || named[i], place,
                "an input buffer is not among its inputs");
  }
  MXC_RT_RETURN_IF_ERROR(Outputs(entry, place));
  return Carries(entry, place);
}

Status TablesCheck::Outputs(const mxc_entry& entry, const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  for (const uint32_t index : tables_.Outputs(entry)) {
    MXC_REQUIRE(index < buffers.size() &&
                    DenseBytes(buffers[index]) == buffers[index].bytes,
                place, "an output is no dense buffer");
    MXC_REQUIRE(WindowOf(entry, index) == nullptr, place,
                "an output is a window");
  }
  return {};
}

Status TablesCheck::Carries(const mxc_entry& entry, const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  const auto carries = tables_.Carries(entry);
  const auto outputs = tables_.Outputs(entry);
  MXC_REQUIRE(carries.size() % 2 == 0, place, "a carry without its input");
  for (size_t i = 0; i < carries.size(); i += 2) {
    const uint32_t from = carries[i], to = carries[i + 1];
    MXC_REQUIRE(std::ranges::count(outputs, from) > 0 && to < buffers.size() &&
                    buffers[to].kind == MXC_BUFFER_INPUT &&
                    buffers[to].dtype == buffers[from].dtype &&
                    buffers[to].bytes == buffers[from].bytes,
                place, "a carry is no output and an input of its type");
  }
  return {};
}

}  // namespace mxc::runtime
