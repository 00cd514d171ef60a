// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/call_sequence.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/ndarray/bound_run.h"

namespace mxc::runtime {
namespace {

using Role = CallSequence::Role;

// What inputs in place are aligned to (Executor::BindState).
constexpr uintptr_t kStateAlignment = 64;

bool SameBytes(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.data() == b.data() &&
         a.type().bytes() == b.type().bytes();
}

class Wiring {
 public:
  Wiring(std::span<const WaitingCall> calls, std::span<const WaitingCall> after)
      : calls_(calls), after_(after) {}

  StatusOr<WiredSequence> Run() {
    for (const WaitingCall& call : calls_) Add(call);
    for (const auto& [chunk, values] : values_of_) {
      MXC_RT_RETURN_IF_ERROR(CheckApart(values));
    }
    CountOwners();
    for (uint32_t v = 0; v < facts_.size(); ++v) {
      MXC_RT_ASSIGN(wired_.sequence.roles.emplace_back(), RoleOf(v));
    }
    return std::move(wired_);
  }

 private:
  struct Facts {
    bool is_read_first = false, is_written = false;
  };

  void Add(const WaitingCall& waiting) {
    CallSequence::Call call{waiting.op.get(), waiting.compiled, {}, {}};
    for (const NDArray& input : waiting.inputs) {
      call.inputs.push_back({ValueOf(input, true), input.type()});
    }
    for (const NDArray& output : waiting.outputs) {
      call.outputs.push_back({ValueOf(output, false), output.type()});
      facts_[call.outputs.back().value].is_written = true;
    }
    wired_.sequence.calls.push_back(std::move(call));
  }

  uint32_t ValueOf(const NDArray& array, bool reads) {
    std::vector<uint32_t>& of_chunk = values_of_[array.chunk().get()];
    for (const uint32_t value : of_chunk) {
      if (SameBytes(wired_.values[value], array)) return value;
    }
    const auto value = static_cast<uint32_t>(facts_.size());
    of_chunk.push_back(value);
    facts_.push_back({.is_read_first = reads});
    wired_.values.push_back(array);
    return value;
  }

  // What is written lies over nothing else.
  Status CheckApart(const std::vector<uint32_t>& values) const {
    for (const uint32_t one : values) {
      for (const uint32_t other : values) {
        if (one == other || !facts_[one].is_written) continue;
        if (!Overlap(wired_.values[one], wired_.values[other])) continue;
        return Fail(StatusCode::kUnsupported,
                    "%s is written, and a view of a part of it used",
                    wired_.values[one].type().Text().c_str());
      }
    }
    return {};
  }

  // References that waiting calls, and this, have to each chunk.
  void CountOwners() {
    for (const auto& part : {calls_, after_}) {
      for (const WaitingCall& call : part) {
        for (const NDArray& array : call.inputs) ++owners_[array.chunk().get()];
        for (const NDArray& array : call.outputs) {
          ++owners_[array.chunk().get()];
        }
      }
    }
    for (const NDArray& value : wired_.values) ++owners_[value.chunk().get()];
  }

  StatusOr<Role> RoleOf(uint32_t value) const {
    const NDArray& array = wired_.values[value];
    const auto [is_read_first, is_written] = facts_[value];
    if (!is_written) return Role::kInput;
    if (array.chunk()->is_foreign()) {
      return Fail(StatusCode::kUnsupported,
                  "%s is written, whose memory is not the library's",
                  array.type().Text().c_str());
    }
    if (!is_read_first) return IsKept(array) ? Role::kOutput : Role::kInternal;
    if (reinterpret_cast<uintptr_t>(array.data()) % kStateAlignment != 0) {
      return Fail(StatusCode::kUnsupported,
                  "%s is written, a view in the middle",
                  array.type().Text().c_str());
    }
    return Role::kInPlace;
  }

  // Whether somebody may ask for what is in it once the calls have run.
  bool IsKept(const NDArray& array) const {
    for (const WaitingCall& call : after_) {
      const auto uses = [&](const NDArray& other) {
        return Overlap(other, array);
      };
      if (std::ranges::any_of(call.inputs, uses)) return true;
      const auto covers = [&](const NDArray& other) {
        return SameBytes(other, array);
      };
      if (std::ranges::any_of(call.outputs, covers)) return false;
    }
    return array.chunk().use_count() > owners_.at(array.chunk().get());
  }

  const std::span<const WaitingCall> calls_, after_;
  WiredSequence wired_;
  std::vector<Facts> facts_;  // by value
  std::unordered_map<const Chunk*, std::vector<uint32_t>> values_of_;
  std::unordered_map<const Chunk*, long> owners_;
};

}  // namespace

std::vector<uint64_t> CallSequence::Key() const {
  std::vector<uint64_t> key;
  const auto add = [&](const std::vector<Operand>& operands) {
    for (const auto& [value, type] : operands) key.push_back(value);
  };
  for (const Call& call : calls) {
    key.push_back(call.compiled->number());
    add(call.inputs);
    add(call.outputs);
  }
  for (const Role role : roles) key.push_back(static_cast<uint64_t>(role));
  return key;
}

StatusOr<WiredSequence> Wired(std::span<const WaitingCall> calls,
                              std::span<const WaitingCall> after) {
  return Wiring(calls, after).Run();
}

}  // namespace mxc::runtime
