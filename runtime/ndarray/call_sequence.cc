// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/call_sequence.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/ndarray/bound_run.h"

namespace mxc::runtime {
namespace {

using Role = CallSequence::Role;

// What inputs in place are aligned to (Executor::BindState).
constexpr uint64_t kStateAlignment = 64;

bool SameBytes(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.offset() == b.offset() &&
         a.type().bytes() == b.type().bytes();
}

class Wiring {
 public:
  Wiring(std::span<const WaitingCall> calls, std::span<const WaitingCall> after)
      : calls_(calls), after_(after) {}

  StatusOr<WiredSequence> Run() {
    Reserve();
    for (const WaitingCall& call : calls_) Add(call);
    CountOwnersBehind();
    for (uint32_t v = 0; v < facts_.size(); ++v) {
      if (facts_[v].is_written) MXC_RT_RETURN_IF_ERROR(CheckApart(v));
      MXC_RT_ASSIGN(wired_.sequence.roles.emplace_back(), RoleOf(v));
    }
    return std::move(wired_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Facts {
    uint32_t next;  // value of the same chunk
    bool is_read_first, is_written;
  };
  struct OfChunk {
    uint32_t first = kNone;  // value
    long owners = 0;         // that the calls and this are
  };

  void Reserve() {
    size_t operands = 0;
    for (const WaitingCall& call : calls_) {
      operands += call.inputs.size() + call.outputs.size();
    }
    chunks_.reserve(operands);
    facts_.reserve(operands);
    wired_.values.reserve(operands);
    wired_.sequence.calls.reserve(calls_.size());
  }

  void Add(const WaitingCall& waiting) {
    CallSequence::Call call{waiting.op.get(), waiting.compiled.get(), {}, {}};
    call.inputs.reserve(waiting.inputs.size());
    call.outputs.reserve(waiting.outputs.size());
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
    OfChunk& of = chunks_[array.chunk().get()];
    ++of.owners;
    for (uint32_t v = of.first; v != kNone; v = facts_[v].next) {
      if (SameBytes(wired_.values[v], array)) return v;
    }
    ++of.owners;  // this
    const auto value = static_cast<uint32_t>(facts_.size());
    facts_.push_back({of.first, reads, false});
    of.first = value;
    wired_.values.push_back(array);
    return value;
  }

  const OfChunk& ChunkOf(uint32_t value) const {
    return chunks_.at(wired_.values[value].chunk().get());
  }

  void CountOwnersBehind() {
    const auto count = [&](const NDArray& array) {
      const auto found = chunks_.find(array.chunk().get());
      if (found != chunks_.end()) ++found->second.owners;
    };
    for (const WaitingCall& call : after_) {
      std::ranges::for_each(call.inputs, count);
      std::ranges::for_each(call.outputs, count);
    }
  }

  // What is written lies over nothing else.
  Status CheckApart(uint32_t one) const {
    const uint32_t first = ChunkOf(one).first;
    for (uint32_t other = first; other != kNone; other = facts_[other].next) {
      if (one == other) continue;
      if (!Overlap(wired_.values[one], wired_.values[other])) continue;
      return Fail(StatusCode::kUnsupported,
                  "%s is written, and a view of a part of it used",
                  wired_.values[one].type().Text().c_str());
    }
    return {};
  }

  StatusOr<Role> RoleOf(uint32_t value) const {
    const NDArray& array = wired_.values[value];
    const Facts& facts = facts_[value];
    if (!facts.is_written) return Role::kInput;
    if (array.chunk()->is_foreign()) {
      return Fail(StatusCode::kUnsupported,
                  "%s is written, whose memory is not the library's",
                  array.type().Text().c_str());
    }
    if (!facts.is_read_first) {
      return IsKept(value) ? Role::kOutput : Role::kInternal;
    }
    if (array.offset() % kStateAlignment != 0) {
      return Fail(StatusCode::kUnsupported,
                  "%s is written, a view in the middle",
                  array.type().Text().c_str());
    }
    return Role::kInPlace;
  }

  // Whether somebody may ask for what is in it once the calls have run.
  bool IsKept(uint32_t value) const {
    const NDArray& array = wired_.values[value];
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
    return array.chunk().use_count() > ChunkOf(value).owners;
  }

  const std::span<const WaitingCall> calls_, after_;
  WiredSequence wired_;
  std::vector<Facts> facts_;  // by value
  std::unordered_map<const Chunk*, OfChunk> chunks_;
};

}  // namespace

std::vector<uint64_t> CallSequence::Key() const {
  std::vector<uint64_t> key;
  key.reserve(calls.size() + 4 * roles.size());
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
