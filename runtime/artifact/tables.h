// SPDX-License-Identifier: Apache-2.0
// The tables of an artifact (runtime/abi). Whoever holds a Tables holds checked
// ones: every index, offset, count and live range in them is in range, so that
// they are used without asking again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// How many entries of open axes count: an input says it (mxc_set_lengths).
struct OpenLength {
  const char* name;  // "": the only one
  int64_t most;
  size_t input;  // which of the entry's inputs
};

// An axis of an input or an output of which the first entries alone count: index i
// is of entry i / inner % length.
struct OpenAxis {
  int axis;
  int64_t inner;
  size_t length;  // its place in Tables::Lengths
};

class Tables {
 public:
  Tables() = default;
  Tables(Tables&&) = default;  // the spans point to the heap, which stays
  Tables& operator=(Tables&&) = default;

  // Copies `bytes`, so that nobody changes them after the check.
  static StatusOr<Tables> Parse(Bytes bytes, uint64_t weight_bytes);

  const mxc_tables& header() const { return *header_; }
  // Those that are run; without what prepares weights.
  std::span<const mxc_entry> entries() const { return entries_; }
  // The steps that write the prepared region; null where there is none.
  const mxc_entry* preparation() const { return preparation_; }
  std::span<const mxc_state> states() const { return states_; }
  std::span<const mxc_import> imports() const { return imports_; }
  // The row of the state that is trained under this number (mxc_tensor_role).
  std::optional<uint32_t> TrainedState(uint32_t number) const {
    const auto found = trained_.find(number);
    if (found == trained_.end()) return std::nullopt;
    return found->second;
  }
  const char* Text(mxc_string s) const {
    return s.count == 0 ? "" : strings_ + s.first;
  }
  // The name of the step's kernel, or what it is without one.
  const char* KernelText(const mxc_step& step) const;

  std::span<const mxc_buffer> Buffers(const mxc_entry& entry) const {
    return buffers_.subspan(entry.buffers.first, entry.buffers.count);
  }
  std::span<const mxc_step> Steps(const mxc_entry& entry) const {
    return steps_.subspan(entry.steps.first, entry.steps.count);
  }
  std::span<const uint32_t> Inputs(const mxc_entry& entry) const {
    return operands_.subspan(entry.inputs.first, entry.inputs.count);
  }
  std::span<const uint32_t> Outputs(const mxc_entry& entry) const {
    return operands_.subspan(entry.outputs.first, entry.outputs.count);
  }
  // In the order of the inputs that say them.
  const std::vector<OpenLength>& Lengths(const mxc_entry& entry) const {
    return lengths_[static_cast<size_t>(&entry - entries_.data())];
  }
  // By axis; none of what is no input or output.
  std::vector<OpenAxis> OpenAxes(const mxc_buffer& buffer) const;
  // Pairs: see mxc_entry.
  std::span<const uint32_t> Carries(const mxc_entry& entry) const {
    return operands_.subspan(entry.carries.first, entry.carries.count);
  }
  std::span<const uint32_t> Operands(const mxc_step& step) const {
    return operands_.subspan(step.operands.first, step.operands.count);
  }
  // The buffer in whose bytes an alias or a window lies in the end; of others,
  // itself.
  uint32_t Base(const mxc_entry& entry, uint32_t buffer) const {
    while (Buffers(entry)[buffer].root != buffer) {
      buffer = Buffers(entry)[buffer].root;
    }
    return buffer;
  }
  // Returns whether a step of the entry reads the buffer, an alias or a window
  // of it, or the caller does, as an output.
  bool IsRead(const mxc_entry& entry, uint32_t buffer) const {
    return read_[entry.buffers.first + buffer];
  }

  // How often a run comes to the step, at most: in every turn of the repeats
  // around it. Up to 2^62, which stands for whatever is more.
  uint64_t TimesRun(const mxc_step& step) const {
    return times_run_[static_cast<size_t>(&step - steps_.data())];
  }
  // In all of these, what it is each time; up to 2^62.
  uint64_t InAllRuns(const mxc_step& step, uint64_t each) const {
    const auto all = Multiply(each, TimesRun(step));
    return all && *all < kMostRuns ? *all : kMostRuns;
  }

 private:
  friend class TablesCheck;

  static constexpr uint64_t kMostRuns = uint64_t{1} << 62;

  std::vector<OpenLength> LengthsIn(const mxc_entry& entry) const;
  void NoteTrained();
  void NoteLengths();
  void NoteReads();
  void NoteTimesRun();

  std::vector<uint64_t> storage_;  // aligned to 8
  const mxc_tables* header_ = nullptr;
  std::span<const mxc_entry> entries_;
  const mxc_entry* preparation_ = nullptr;
  std::span<const mxc_state> states_;
  std::span<const mxc_import> imports_;
  std::span<const mxc_buffer> buffers_;
  std::span<const mxc_step> steps_;
  std::span<const uint32_t> operands_;
  const char* strings_ = nullptr;
  std::map<uint32_t, uint32_t> trained_;          // rows of states_, by number
  std::vector<std::vector<OpenLength>> lengths_;  // by row of entries_
  std::vector<bool> read_;                        // by row of buffers_
  std::vector<uint64_t> times_run_;               // by row of steps_
};

// Bytes of one element of MXNet's type flag, 0 if there is no such type.
uint64_t ElementSize(uint8_t dtype);

// "'S', 'T'", for a message; of one without a name "one".
std::string LengthNames(const std::vector<OpenLength>& lengths);

}  // namespace mxc::runtime
