// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/artifact_keys.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/base/element.h"
#include "runtime/train/train_step.h"

namespace mxc::train {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;
using runtime::Tables;

// An entry `update`.
struct UpdateEntry {
  size_t row;
  std::set<size_t> states;
  bool elementwise;  // an element depends on no other
  uint64_t grain;    // kvstore::KeySpec
};

// How many elements a task of the step updates that updates the parameter, if
// it is even; what else there is counts updates.
uint64_t GrainOf(const Tables& tables, const mxc_entry& entry) {
  const auto buffers = tables.Buffers(entry);
  uint64_t grain = 0;
  for (const mxc_step& step : tables.Steps(entry)) {
    const bool kernel = step.kind == MXC_STEP_KERNEL &&
                        step.launch.grid[0] == 0;  // on the host
    if (!kernel) return 0;
    if (step.tasks == 0) continue;
    const mxc_buffer& output = buffers[tables.Operands(step)[step.input_count]];
    const uint64_t elements = output.bytes / runtime::ElementSize(output.dtype);
    if (elements == 1) continue;
    if ((step.flags & MXC_KERNEL_EVEN) == 0 || grain != 0) return 0;
    grain = elements / static_cast<uint64_t>(step.tasks);
  }
  return grain;
}

UpdateEntry ReadEntry(const Tables& tables, size_t row) {
  const mxc_entry& entry = tables.entries()[row];
  // A norm would be an intermediate value.
  const bool elementwise = entry.arena_bytes == 0;
  UpdateEntry read{row, {}, elementwise, GrainOf(tables, entry)};
  for (const mxc_buffer& buffer : tables.Buffers(entry)) {
    if (buffer.kind == MXC_BUFFER_STATE) read.states.insert(buffer.offset);
  }
  return read;
}

// By the row of the state. The entries of several lengths are of one network:
// the first one speaks for all.
std::map<uint32_t, runtime::Exchange> ExchangesOf(const Tables& tables) {
  std::map<uint32_t, runtime::Exchange> exchanges;
  for (const mxc_entry& entry : tables.entries()) {
    if (entry.kind != MXC_ENTRY_GRAD) continue;
    for (const auto& exchange : runtime::ExchangesOf(tables, entry)) {
      exchanges[exchange.state] = exchange;
    }
    break;
  }
  return exchanges;
}

Status RequireFloats(const mxc_state& state, const std::string& name) {
  if (state.dtype == static_cast<int>(runtime::ElementType::kF32)) return {};
  return Fail(StatusCode::kUnsupported,
              "parameter '%s' is not float32, as it must be where gradients "
              "are added up or several machines train",
              name.c_str());
}

// Elements of a row.
uint64_t WidthOf(const mxc_state& state) {
  return state.dims[0] == 0 ? 0
                            : state.bytes / sizeof(float) /
                                  static_cast<uint64_t>(state.dims[0]);
}

bool IsCounter(const mxc_state& state) {
  return state.role == MXC_TENSOR_UPDATES || state.role == MXC_TENSOR_BEGUN;
}

constexpr size_t kOfAll = SIZE_MAX;

// What keys stay together with: the state that is trained, by its row; kOfAll
// for what the optimizer keeps for all of them.
size_t GroupOf(const Tables& tables, size_t state) {
  const mxc_state& row = tables.states()[state];
  if (IsCounter(row) || row.role == MXC_TENSOR_SHARED) return kOfAll;
  if (row.role != MXC_TENSOR_OPTIMIZER) return state;
  return tables.TrainedState(row.index).value_or(static_cast<uint32_t>(state));
}

void AddPosition(ArtifactKeys& keys) {
  keys.position = static_cast<uint32_t>(keys.table.size());
  kvstore::KeySpec& position = keys.table.emplace_back();
  position.name = "position";
  position.bytes = sizeof(Position);
  position.group = keys.position;
  keys.entries.push_back(0);
}

}  // namespace

// What parameters share beside counters (nadam's schedule of momentum) has one
// value on each server, as MXNet's optimizers have; then it matters which
// parameters those are.
StatusOr<ArtifactKeys> KeysOf(const Tables& tables, Kept kept) {
  std::map<size_t, UpdateEntry> updates;   // by what they train
  std::set<size_t> states, of_parameters;  // what updates read and write
  for (size_t row = 0; row < tables.entries().size(); ++row) {
    if (tables.entries()[row].kind != MXC_ENTRY_UPDATE) continue;
    UpdateEntry update = ReadEntry(tables, row);
    states.insert(update.states.begin(), update.states.end());
    const auto trained = tables.TrainedState(tables.entries()[row].index);
    if (!trained) continue;
    if (tables.states()[*trained].role == MXC_TENSOR_PARAMETER) {
      of_parameters.insert(update.states.begin(), update.states.end());
    }
    updates.emplace(*trained, std::move(update));
  }
  std::erase_if(states, [&](size_t state) {
    if (updates.contains(state)) {
      return kept == Kept::kNothing &&
             tables.states()[state].role == MXC_TENSOR_PARAMETER;
    }
    return kept != Kept::kAll && updates.contains(GroupOf(tables, state));
  });
  ArtifactKeys keys;
  auto exchanges = ExchangesOf(tables);
  std::map<size_t, uint32_t> groups;  // see GroupOf
  for (const size_t state : states) {
    const mxc_state& row = tables.states()[state];
    const auto key = static_cast<uint32_t>(keys.table.size());
    const std::string name = tables.Text(row.name);
    const auto update = updates.find(state);
    const bool trained = update != updates.end();
    if (trained) MXC_RT_RETURN_IF_ERROR(RequireFloats(row, name));
    if (trained && row.role != MXC_TENSOR_PARAMETER) keys.loss_scale = key;
    const size_t group = trained ? state : GroupOf(tables, state);
    const runtime::Exchange& exchange = exchanges[static_cast<uint32_t>(state)];
    groups.try_emplace(group, key);
    const bool shared = !updates.contains(group);
    if (IsCounter(row)) {
      keys.counters.push_back(key);
    } else if (shared) {
      keys.placement = kvstore::Placement::kInTurn;
      keys.shares = keys.shares || of_parameters.contains(state);
    }
    keys.table.push_back({name, row.bytes, trained, groups[group], shared,
                          exchange.priority,
                          trained && !update->second.elementwise});
    if (!shared) keys.table.back().grain = updates.at(group).grain;
    if (exchange.rows >= 0) keys.table.back().width = WidthOf(row);
    keys.states.push_back(state);
    keys.entries.push_back(trained ? update->second.row : 0);
  }
  if (updates.empty()) {
    return Fail(StatusCode::kNotFound,
                "the artifact has no entries 'grad' and 'update', which "
                "--accumulate and training on several machines need; compile "
                "it with --entry grad,update,score");
  }
  AddPosition(keys);
  return keys;
}

StatusOr<ArtifactKeys> ParametersOf(const runtime::Model& model, bool speeds) {
  const auto states = model.tables().states();
  ArtifactKeys keys;
  for (size_t row = 0; row < states.size(); ++row) {
    if (states[row].role != MXC_TENSOR_PARAMETER) continue;
    const std::string name = model.tables().Text(states[row].name);
    MXC_RT_RETURN_IF_ERROR(RequireFloats(states[row], name));
    const auto key = static_cast<uint32_t>(keys.table.size());
    keys.table.push_back({name, states[row].bytes, true, key, false, key});
    keys.states.push_back(row);
    if (!speeds) continue;
    keys.table.push_back(
        {name + "/speed", states[row].bytes, false, key, false, key});
    keys.states.push_back(SIZE_MAX);
  }
  if (keys.table.empty()) {
    return Fail(StatusCode::kNotFound, "the artifact has no parameters");
  }
  AddPosition(keys);
  return keys;
}

ArtifactKeys ArtifactKeys::OfPositionAlone() {
  ArtifactKeys keys;
  AddPosition(keys);
  return keys;
}

uint32_t ArtifactKeys::KeyOfState(size_t state) const {
  return static_cast<uint32_t>(std::ranges::find(states, state) -
                               states.begin());
}

}  // namespace mxc::train
