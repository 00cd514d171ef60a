// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/tables.h"

#include <cstring>

#include "runtime/artifact/tables_check.h"

#include "runtime/base/element.h"

namespace mxc::runtime {

uint64_t ElementSize(uint8_t dtype) {
  const auto type = ElementTypeFromFlag(dtype);
  return type ? static_cast<uint64_t>(ElementBytes(*type)) : 0;
}

StatusOr<Tables> Tables::Parse(Bytes bytes, uint64_t weight_bytes) {
  Tables tables;
  tables.storage_.resize((bytes.size() + 7) / 8);
  if (!bytes.empty()) {
    std::memcpy(tables.storage_.data(), bytes.data(), bytes.size());
  }
  TablesCheck check(tables, weight_bytes);
  MXC_RT_RETURN_IF_ERROR(check.Header());
  MXC_RT_RETURN_IF_ERROR(check.Rows());
  tables.NoteTrained();
  tables.NoteLengths();
  tables.NoteReads();
  tables.NoteTimesRun();
  return tables;
}

std::vector<OpenLength> Tables::LengthsIn(const mxc_entry& entry) const {
  std::vector<OpenLength> lengths;
  const auto inputs = Inputs(entry);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const mxc_buffer& buffer = Buffers(entry)[inputs[k]];
    if (buffer.role != MXC_TENSOR_LENGTH) continue;
    const char* colon = std::strchr(Text(buffer.name), ':');
    lengths.push_back({colon == nullptr ? "" : colon + 1,
                       buffer.advance > 0 ? buffer.advance : entry.length, k});
  }
  return lengths;
}

std::vector<OpenAxis> Tables::OpenAxes(const mxc_buffer& buffer) const {
  std::vector<OpenAxis> axes;
  if (buffer.kind != MXC_BUFFER_INPUT && buffer.kind != MXC_BUFFER_OUTPUT) {
    return axes;
  }
  if (buffer.offset > 0) {
    axes.push_back({static_cast<int>(buffer.offset) - 1, buffer.advance, 0});
  }
  const auto rows = operands_.subspan(buffer.period, buffer.shift);
  for (size_t k = 0; k + 2 < rows.size(); k += 3) {
    axes.push_back({static_cast<int>(rows[k]), rows[k + 1], rows[k + 2]});
  }
  return axes;
}

std::string LengthNames(const std::vector<OpenLength>& lengths) {
  std::string names;
  for (const OpenLength& length : lengths) {
    names += names.empty() ? "" : ", ";
    names += *length.name == '\0' ? "one" : Format("'%.100s'", length.name);
    if (names.size() > 500) return names + ", …";
  }
  return names;
}

const char* Tables::KernelText(const mxc_step& step) const {
  if (step.kind == MXC_STEP_REPEAT) return "repeat";
  if (step.kind == MXC_STEP_BRANCH) return "branch";
  if (step.kind == MXC_STEP_CALL || step.kind == MXC_STEP_COLLECTIVE) {
    return Text(step.kernel_name);
  }
  if (step.kind == MXC_STEP_COPY) return "copy";
  if (step.kind == MXC_STEP_START) return "start";
  if (step.kind == MXC_STEP_WAIT) return "wait";
  return step.tasks == 0 ? "view" : Text(step.kernel_name);
}

void Tables::NoteLengths() {
  for (const mxc_entry& entry : entries_) {
    lengths_.push_back(LengthsIn(entry));
  }
}

void Tables::NoteTrained() {
  for (uint32_t row = 0; row < states_.size(); ++row) {
    const uint8_t role = states_[row].role;
    if (role != MXC_TENSOR_PARAMETER && role != MXC_TENSOR_LOSS_SCALE) continue;
    trained_.emplace(states_[row].index, row);
  }
}

void Tables::NoteReads() {
  read_.resize(buffers_.size());
  for (const mxc_entry& entry : entries_) {
    for (const mxc_step& step : Steps(entry)) {
      for (const uint32_t b : Operands(step).first(step.input_count)) {
        read_[entry.buffers.first + b] = true;
        read_[entry.buffers.first + Base(entry, b)] = true;
      }
    }
    for (const uint32_t b : Outputs(entry)) {
      read_[entry.buffers.first + Base(entry, b)] = true;
    }
  }
}

void Tables::NoteTimesRun() {
  struct Block {
    size_t end;
    uint64_t times;
  };
  std::vector<Block> around = {{steps_.size(), 1}};
  for (size_t row = 0; row < steps_.size(); ++row) {
    while (around.back().end == row) around.pop_back();
    const uint64_t times = around.back().times;
    times_run_.push_back(times);
    const mxc_step& step = steps_[row];
    if (step.kind != MXC_STEP_REPEAT) continue;
    const auto turns = static_cast<uint64_t>(step.turns);
    around.push_back({row + 1 + step.body, InAllRuns(step, turns)});
  }
}

}  // namespace mxc::runtime
