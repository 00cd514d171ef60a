// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/tables_check.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace mxc::runtime {
namespace {

// Rows may share strings. All that they name together is at most so many times
// as long as the tables, so that reading each row's strings stays in proportion
// to the file.
constexpr uint64_t kMostTextShare = 256;

// Rows of one table. Each has one owner: none is left unchecked, and whatever is
// allocated for each use of a row stays in proportion to the file.
class OwnedRows {
 public:
  explicit OwnedRows(size_t count) : owned_(count) {}

  // `range` lies within the table.
  void Claim(mxc_range range) {
    for (uint32_t i = 0; i < range.count && !twice_; ++i) {
      twice_ = owned_[range.first + i];
      owned_[range.first + i] = true;
    }
  }

  Status Check() const {
    MXC_REQUIRE(!twice_, "tables", "rows with two owners");
    MXC_REQUIRE(std::ranges::count(owned_, false) == 0, "tables",
                "rows without an owner");
    return {};
  }

 private:
  std::vector<bool> owned_;
  bool twice_ = false;
};

}  // namespace

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
  MXC_RT_RETURN_IF_ERROR(Fields());
  MXC_RT_RETURN_IF_ERROR(States());
  for (size_t i = 0; i < tables_.entries_.size(); ++i) {
    const std::string place = Format("entry %zu", i);
    MXC_RT_RETURN_IF_ERROR(Entry(tables_.entries_[i], place));
  }
  return Preparation();
}

// Of every row, once: those of an entry when it is known which they are.
Status TablesCheck::Fields() {
  uint64_t text_bytes =
      kMostTextShare * tables_.storage_.size() * sizeof tables_.storage_[0];
  FieldsCheck::Sizes sizes = {.strings = {tables_.strings_, string_bytes_},
                              .text_bytes_left = &text_bytes,
                              .buffers = tables_.buffers_.size(),
                              .steps = tables_.steps_.size(),
                              .operands = tables_.operands_.size()};
  const auto check = [&](auto rows, std::span<const Field> fields,
                         const std::string& place) {
    return FieldsOf(rows, fields, place, sizes);
  };
  MXC_RT_RETURN_IF_ERROR(
      check(std::span(tables_.header_, 1), kHeaderFields, "header"));
  MXC_RT_RETURN_IF_ERROR(check(tables_.states_, kStateFields, "state"));
  MXC_RT_RETURN_IF_ERROR(check(tables_.imports_, kImportFields, "import"));
  MXC_RT_RETURN_IF_ERROR(check(tables_.entries_, kEntryFields, "entry"));
  MXC_RT_RETURN_IF_ERROR(OwnersOfRows());
  for (size_t i = 0; i < tables_.entries_.size(); ++i) {
    const mxc_entry& entry = tables_.entries_[i];
    const std::string place = Format("entry %zu, ", i);
    sizes.buffers_of_entry = entry.buffers.count;
    sizes.steps_of_entry = entry.steps.count;
    MXC_RT_RETURN_IF_ERROR(
        check(tables_.Buffers(entry), kBufferFields, place + "buffer"));
    MXC_RT_RETURN_IF_ERROR(
        check(tables_.Steps(entry), kStepFields, place + "step"));
  }
  return OwnersOfOperands();
}

template <class Row>
Status TablesCheck::FieldsOf(std::span<const Row> rows,
                             std::span<const Field> fields,
                             const std::string& place,
                             const FieldsCheck::Sizes& sizes) const {
  FieldsCheck check(fields, sizes);
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string complaint =
        check.Complaint(reinterpret_cast<const std::byte*>(&rows[i]));
    MXC_REQUIRE(complaint.empty(), Format("%s %zu", place.c_str(), i),
                complaint.c_str());
  }
  return {};
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

Status TablesCheck::OwnersOfRows() const {
  OwnedRows buffers(tables_.buffers_.size()), steps(tables_.steps_.size());
  for (const mxc_entry& entry : tables_.entries_) {
    buffers.Claim(entry.buffers);
    steps.Claim(entry.steps);
  }
  MXC_RT_RETURN_IF_ERROR(buffers.Check());
  return steps.Check();
}

Status TablesCheck::OwnersOfOperands() const {
  OwnedRows operands(tables_.operands_.size());
  for (const mxc_entry& entry : tables_.entries_) {
    for (const mxc_range range : {entry.inputs, entry.outputs, entry.carries}) {
      operands.Claim(range);
    }
  }
  for (const mxc_step& step : tables_.steps_) operands.Claim(step.operands);
  for (const mxc_buffer& buffer : tables_.buffers_) {
    if (buffer.kind != MXC_BUFFER_INPUT && buffer.kind != MXC_BUFFER_OUTPUT) {
      continue;
    }
    MXC_REQUIRE(Within(buffer.period, buffer.shift, tables_.operands_.size()),
                "tables", "the open axes of a buffer leave the operands");
    operands.Claim({buffer.period, buffer.shift});
  }
  return operands.Check();
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
  MXC_REQUIRE(entry.kind == MXC_ENTRY_UPDATE || entry.index == 0, place,
              "has the number of what it does not update");
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
  MXC_RT_RETURN_IF_ERROR(OpenAxes(entry, place));
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
  MXC_REQUIRE(carries.size() % 2 == 0, place, "a carry without its input");
  std::vector<bool> is_output(buffers.size());
  for (const uint32_t output : tables_.Outputs(entry)) is_output[output] = true;
  for (size_t i = 0; i < carries.size(); i += 2) {
    const uint32_t from = carries[i], to = carries[i + 1];
    MXC_REQUIRE(from < buffers.size() && is_output[from] &&
                    to < buffers.size() &&
                    buffers[to].kind == MXC_BUFFER_INPUT &&
                    buffers[to].dtype == buffers[from].dtype &&
                    buffers[to].bytes == buffers[from].bytes,
                place, "a carry is no output and an input of its type");
  }
  return {};
}

}  // namespace mxc::runtime
