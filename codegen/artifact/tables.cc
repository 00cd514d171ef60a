// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/tables.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "codegen/artifact/flat_program.h"
#include "codegen/artifact/preparation.h"
#include "codegen/artifact/role_rows.h"
#include "codegen/artifact/states.h"
#include "codegen/artifact/step_rows.h"
#include "codegen/artifact/table_lists.h"
#include "ir/program/memory.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/check.h"
#include "runtime/abi/abi.h"

namespace mxc {
namespace {

static_assert(kArenaAlignment == MXC_ARENA_ALIGNMENT);

class TableMaker {
 public:
  TableMaker(const CodeImage& code, const StateTable& states,
             const PreparedConstants& prepared, const TensorRoles& roles,
             WeightsSection& weights)
      : code_(code),
        states_(states),
        prepared_(prepared),
        roles_(roles),
        role_rows_(roles),
        weights_(weights),
        steps_(code, lists_) {}

  void AddStates() {
    for (const StateTable::Row& state : states_.rows()) {
      mxc_state row = {};
      row.name = lists_.Text(state.buffer->name);
      SetType(state.buffer->type, row);
      row.offset = static_cast<uint64_t>(state.offset);
      row.bytes = static_cast<uint64_t>(state.buffer->bytes());
      row.initial =
          state.initial != nullptr ? weights_.Add(*state.initial) : MXC_ZEROS;
      const auto [role, index] = role_rows_.Of(*state.buffer);
      row.role = role;
      row.index = index;
      state_rows_.push_back(row);
    }
  }

  // `steps`: by row of the entry, flat.
  void AddEntry(const Program& program, const std::vector<StepCode>& steps) {
    const FlatProgram flat = Flatten(program);
    mxc_entry entry = {};
    entry.name = lists_.Text(program.entry.Name());
    entry.buffers = {RowCount(buffers_), RowCount(flat.program.buffers)};
    entry.steps = {RowCount(steps_.rows()), RowCount(flat.program.steps)};
    entry.inputs = lists_.Operands(program.BuffersOf(BufferKind::kInput));
    entry.outputs = lists_.Operands(program.BuffersOf(BufferKind::kOutput));
    entry.carries = lists_.Operands(Carries(program));
    const Memory memory = MemoryOf(program);
    entry.arena_bytes = static_cast<uint64_t>(memory.arena);
    entry.lower_bound_bytes = static_cast<uint64_t>(memory.arena_lower_bound);
    entry.naive_bytes = static_cast<uint64_t>(memory.arena_naive);
    entry.host_arena_bytes = static_cast<uint64_t>(memory.host_arena);
    entry.activation_bytes = static_cast<uint64_t>(memory.activations());
    entry.scratch_bytes = static_cast<uint64_t>(memory.workspace);
    entry.batch = Batch(program);
    entry.kind = KindOf(program.entry.purpose);
    const auto& lengths = program.entry.lengths;
    if (lengths.size() == 1) entry.length = lengths.begin()->second;
    if (entry.kind == MXC_ENTRY_UPDATE) {
      entry.index = role_rows_.TrainedIndex(program.entry.of);
    }
    AddBuffers(program, flat);
    for (size_t row = 0; row < flat.program.steps.size(); ++row) {
      steps_.Add(flat, row, steps[row]);
      entry.scratch_bytes =
          std::max(entry.scratch_bytes, steps_.rows().back().scratch_bytes);
    }
    entries_.push_back(entry);
  }

  std::string Bytes(const Target& target) {
    mxc_tables header = {};
    header.device = lists_.Text(target.device);
    header.magic = MXC_TABLES_MAGIC;
    header.abi_version = MXC_ABI_VERSION;
    header.kernel_count = RowCount(code_.kernels);
    header.required_features = target.required_features;
    std::string bytes(sizeof header, '\0');
    Place(entries_, bytes, header.entries_offset, header.entry_count);
    Place(buffers_, bytes, header.buffers_offset, header.buffer_count);
    Place(steps_.rows(), bytes, header.steps_offset, header.step_count);
    Place(lists_.operands, bytes, header.operands_offset, header.operand_count);
    Place(state_rows_, bytes, header.states_offset, header.state_count);
    Place(steps_.imports(), bytes, header.imports_offset, header.import_count);
    header.state_bytes = static_cast<uint64_t>(states_.region_bytes());
    header.prepared_bytes = static_cast<uint64_t>(prepared_.region_bytes());
    header.strings_offset = bytes.size();
    header.string_bytes = lists_.strings.size();
    bytes += lists_.strings;
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }

 private:
  template <class Row>
  static void Place(const std::vector<Row>& rows, std::string& bytes,
                    uint64_t& offset, uint64_t& count) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    offset = bytes.size();
    count = rows.size();
    bytes.append(reinterpret_cast<const char*>(rows.data()),
                 rows.size() * sizeof(Row));
    bytes.resize((bytes.size() + 7) / 8 * 8);
  }

  static int64_t Batch(const Program& program) {
    for (const int input : program.BuffersOf(BufferKind::kInput)) {
      if (program.buffers[input].use.role == TensorRole::kLength) continue;
      const Shape& shape = program.buffers[input].type.shape;
      return shape.rank() == 0 ? 0 : shape[0];
    }
    return 0;
  }

  static mxc_entry_kind KindOf(Purpose purpose) {
    switch (purpose) {
      case Purpose::kOther:
        return MXC_ENTRY_OTHER;
      case Purpose::kInfer:
        return MXC_ENTRY_INFER;
      case Purpose::kTrain:
        return MXC_ENTRY_TRAIN;
      case Purpose::kScore:
        return MXC_ENTRY_SCORE;
      case Purpose::kGrad:
        return MXC_ENTRY_GRAD;
      case Purpose::kUpdate:
        return MXC_ENTRY_UPDATE;
      case Purpose::kPrepare:
        return MXC_ENTRY_PREPARE;
    }
    return MXC_ENTRY_OTHER;
  }

  // Buffers of bodies have no live range: they lie in a workspace that has.
  void AddBuffers(const Program& program, const FlatProgram& flat) {
    std::vector<LiveRange> live = LiveRanges(program);
    for (LiveRange& range : live) {
      if (range.first < 0) continue;
      const int last = flat.rows[range.last];
      range = {flat.rows[range.first],
               last + flat.bodies[last] + flat.others[last]};
    }
    live.resize(flat.program.buffers.size());
    for (size_t i = 0; i < live.size(); ++i) {
      AddBuffer(flat.program, static_cast<int>(i), live[i]);
      if (flat.windows[i]) SetWindow(*flat.windows[i], buffers_.back());
    }
  }

  static void SetWindow(const TurnWindow& window, mxc_buffer& row) {
    row.kind = MXC_BUFFER_WINDOW;
    row.loop = static_cast<uint32_t>(window.loop);
    row.root = static_cast<uint32_t>(window.root);
    row.offset = static_cast<uint64_t>(window.offset);
    row.advance = window.advance;
  }

  void AddBuffer(const Program& program, int index, const LiveRange& live) {
    const Buffer& buffer = program.buffers[index];
    mxc_buffer row = {};
    row.name = lists_.Text(buffer.name);
    SetType(buffer.type, row);
    row.root = static_cast<uint32_t>(program.Root(index));
    row.bytes = static_cast<uint64_t>(buffer.reach_bytes());
    row.gaps = buffer.layout.has_gaps() ? 1 : 0;
    row.first_step = live.first;
    row.last_step = live.last;
    row.place = PlaceInTables(program, buffer.place);
    if (buffer.alias_of >= 0) {
      row.kind = MXC_BUFFER_ALIAS;
      row.offset = static_cast<uint64_t>(program.BytesIntoRoot(index));
    } else {
      row.kind = static_cast<uint8_t>(KindOf(buffer.kind));
      if (row.kind == MXC_BUFFER_WEIGHT) PlaceConstant(buffer, row);
      if (row.kind == MXC_BUFFER_STATE) row.offset = states_.IndexOf(buffer);
      if (row.kind == MXC_BUFFER_INTERNAL && buffer.offset >= 0) {
        row.offset = static_cast<uint64_t>(buffer.offset);
      }
    }
    if (row.kind == MXC_BUFFER_INPUT || row.kind == MXC_BUFFER_OUTPUT) {
      SetLengths(program, buffer, row);
    }
    SetRole(buffer, row);
    buffers_.push_back(row);
  }

  // The one open axis of the only length has a short form.
  void SetLengths(const Program& program, const Buffer& buffer,
                  mxc_buffer& row) {
    if (buffer.use.role == TensorRole::kLength) {
      const auto& lengths = program.entry.lengths;
      if (lengths.size() > 1) row.advance = lengths.at(buffer.use.of);
      return;
    }
    const std::vector<LengthAxis>& open = buffer.use.open;
    if (open.empty()) return;
    if (open.size() == 1 && program.entry.lengths.size() == 1) {
      row.offset = static_cast<uint64_t>(open[0].axis + 1);
      row.advance = open[0].inner;
      return;
    }
    std::vector<int> rows;
    for (const LengthAxis& axis : Sorted(open)) {
      rows.insert(rows.end(), {axis.axis, static_cast<int>(axis.inner),
                               NumberOf(program, axis.length)});
    }
    const mxc_range range = lists_.Operands(rows);
    row.period = range.first;
    row.shift = range.count;
  }

  static std::vector<LengthAxis> Sorted(std::vector<LengthAxis> axes) {
    std::ranges::sort(axes, {}, &LengthAxis::axis);
    return axes;
  }

  // Which of the inputs that say lengths it is of.
  static int NumberOf(const Program& program, const std::string& length) {
    int number = 0;
    for (const int input : program.BuffersOf(BufferKind::kInput)) {
      const TensorUse& use = program.buffers[input].use;
      if (use.role != TensorRole::kLength) continue;
      if (use.of == length) return number;
      ++number;
    }
    MXC_CHECK(false, "no input says the length '{}'", length);
    return 0;
  }

  std::vector<int> Carries(const Program& program) const {
    const auto find = [&](BufferKind kind, const std::string& name) {
      for (const int b : program.BuffersOf(kind)) {
        if (program.buffers[b].name == name) return b;
      }
      return -1;
    };
    std::vector<int> carries;
    for (const auto& [output, input] : roles_.carries) {
      const int from = find(BufferKind::kOutput, output);
      const int to = find(BufferKind::kInput, input);
      if (from < 0 || to < 0) continue;
      if (program.buffers[from].type != program.buffers[to].type) continue;
      carries.insert(carries.end(), {from, to});
    }
    return carries;
  }

  void SetRole(const Buffer& buffer, mxc_buffer& row) const {
    if (buffer.kind == BufferKind::kState) return;  // its row has it
    const RoleRows::Role role = role_rows_.Of(buffer);
    row.role = role.role;
    row.index = static_cast<uint16_t>(role.index);
  }

  void PlaceConstant(const Buffer& constant, mxc_buffer& row) {
    if (const auto offset = prepared_.OffsetOf(constant)) {
      row.kind = MXC_BUFFER_PREPARED;
      row.offset = static_cast<uint64_t>(*offset);
    } else {
      row.offset = weights_.Add(constant);
    }
  }

  template <class Row>
  static void SetType(const TensorType& type, Row& row) {
    row.rank = static_cast<uint8_t>(type.shape.rank());
    static_assert(kMaxTensorRank == MXC_MAX_RANK);
    MXC_CHECK(row.rank <= MXC_MAX_RANK, "rank {}", row.rank);
    std::ranges::copy(type.shape.dims(), row.dims);
    row.dtype = static_cast<uint8_t>(type.dtype);
  }

  static mxc_buffer_kind KindOf(BufferKind kind) {
    switch (kind) {
      case BufferKind::kInput:
        return MXC_BUFFER_INPUT;
      case BufferKind::kOutput:
        return MXC_BUFFER_OUTPUT;
      case BufferKind::kConstant:
        return MXC_BUFFER_WEIGHT;
      case BufferKind::kInternal:
        return MXC_BUFFER_INTERNAL;
      case BufferKind::kState:
        return MXC_BUFFER_STATE;
      case BufferKind::kNextState:
        break;  // update-in-place made it an alias of its state
    }
    MXC_CHECK(false, "a next value that is no alias of its state");
  }

  const CodeImage& code_;
  const StateTable& states_;
  const PreparedConstants& prepared_;
  const TensorRoles& roles_;
  const RoleRows role_rows_;
  WeightsSection& weights_;
  std::vector<mxc_entry> entries_;
  std::vector<mxc_buffer> buffers_;
  std::vector<mxc_state> state_rows_;
  TableLists lists_;
  StepRows steps_;
};

// mxc_buffer.index has room for their numbers.
Status RequireNumbers(std::span<const Program> entries,
                      const TensorRoles& roles) {
  const size_t most = std::numeric_limits<uint16_t>::max();
  if (roles.parameters.size() < most) return Done{};
  for (const Program& program : entries) {
    for (const Buffer& buffer : program.buffers) {
      if (buffer.use.of.empty()) continue;
      return Error({},
                   "the network has {} parameters; expected fewer than {} to "
                   "train",
                   roles.parameters.size(), most);
    }
  }
  return Done{};
}

}  // namespace

Result<std::string> MakeTables(std::span<const Program> entries,
                               const CodeImage& code, const Target& target,
                               const TensorRoles& roles,
                               WeightsSection& weights) {
  MXC_RETURN_IF_ERROR(RequireNumbers(entries, roles));
  MXC_ASSIGN(const StateTable states, StateTable::Collect(entries));
  const PreparedConstants prepared = PreparedConstants::Of(entries);
  TableMaker maker(code, states, prepared, roles, weights);
  maker.AddStates();
  for (size_t i = 0; i < entries.size(); ++i) {
    maker.AddEntry(entries[i], code.steps[i]);
  }
  return maker.Bytes(target);
}

}  // namespace mxc
