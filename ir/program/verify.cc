// SPDX-License-Identifier: Apache-2.0
#include "ir/program/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/program/beside_check.h"
#include "ir/program/in_place.h"
#include "ir/program/memory.h"

namespace mxc {
namespace {

using MaybeError = std::optional<std::string>;

class ProgramVerifier {
 public:
  ProgramVerifier(const Program& program, size_t windows)
      : program_(program), windows_(windows), beside_(program) {}

  MaybeError Run() {
    if (auto error = CheckPlaceTable()) return error;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      if (auto error = CheckBuffer(static_cast<int>(i))) return error;
    }
    written_.assign(program_.buffers.size(), false);
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const BufferKind kind = program_.buffers[i].kind;
      written_[i] = kind == BufferKind::kInput ||
                    kind == BufferKind::kConstant || kind == BufferKind::kState;
    }
    overwritten_.assign(program_.buffers.size(), false);
    for (const Step& step : program_.steps) {
      if (auto error = CheckStep(step)) {
        return fmt::format("step '{}': {}", step.name, *error);
      }
    }
    for (const int output : program_.BuffersOf(BufferKind::kOutput)) {
      if (!written_[output])
        return fmt::format("output {} is not written", output);
    }
    for (const int next : program_.BuffersOf(BufferKind::kNextState)) {
      if (!written_[next])
        return fmt::format("next state {} is not written", next);
    }
    if (auto error = beside_.Finish()) return error;
    return CheckPlan();
  }

 private:
  MaybeError CheckBuffer(int index) const {
    const Buffer& b = program_.buffers[index];
    if (!b.type.known()) return fmt::format("buffer {} has no type", index);
    const size_t rank = b.type.shape.dims().size();
    if (b.layout.halo_low.size() != rank || b.layout.halo_high.size() != rank) {
      return fmt::format("buffer {}: layout of another rank", index);
    }
    Extents covered(rank, 1);
    for (const auto& dim : b.layout.dims) covered[dim.axis] *= dim.extent;
    if (b.layout.basis == KernelBasis::kStrassen) {
      for (const size_t halved : {0, 1}) covered[halved] *= 2;
    }
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t needed = b.type.shape[static_cast<int>(axis)] +
                             b.layout.halo_low[axis] + b.layout.halo_high[axis];
      if (covered[axis] < needed) {
        return fmt::format("buffer {}: layout {} does not hold {}", index,
                           ToString(b.layout), ToString(b.type));
      }
    }
    const bool caller =
        b.kind == BufferKind::kInput || b.kind == BufferKind::kOutput;
    const bool window = static_cast<size_t>(index) < windows_;
    const bool carried =
        b.kind == BufferKind::kState || b.kind == BufferKind::kNextState;
    if (windows_ > 0 && window != (caller || carried)) {
      return fmt::format("buffer {} {}", index,
                         window ? "is part of an operand but no input or output"
                                : "is an input or output but no operand's");
    }
    if (windows_ > 0 && !window && b.kind != BufferKind::kInternal &&
        b.kind != BufferKind::kConstant) {
      return fmt::format("buffer {} inside of a step is not internal", index);
    }
    if (caller && !window && !b.layout.row_major()) {
      return fmt::format("buffer {} belongs to the caller but is not row-major",
                         index);
    }
    if (b.place < 0 || b.place >= std::ssize(program_.places)) {
      return fmt::format("buffer {} lies in a place that there is not", index);
    }
    if (b.place != kKernelPlace && b.kind != BufferKind::kInternal &&
        b.kind != BufferKind::kConstant) {
      return fmt::format("buffer {} lies on the host", index);
    }
    if (b.kind == BufferKind::kState && !b.layout.row_major()) {
      return fmt::format("state {} is not row-major", index);
    }
    if (b.kind == BufferKind::kNextState) {
      if (auto error = CheckNextState(index)) return error;
    }
    const bool valued = b.kind == BufferKind::kConstant ||
                        (b.kind == BufferKind::kState && !b.constant.empty());
    if (valued && b.constant.type() != b.type) {
      return fmt::format("constant {} is {}, its buffer {}", index,
                         ToString(b.constant.type()), ToString(b.type));
    }
    if (b.alias_of >= static_cast<int>(program_.buffers.size()) ||
        b.alias_of == index) {
      return fmt::format("buffer {} aliases {}", index, b.alias_of);
    }
    if (b.alias_of >= 0 && b.place != program_.buffers[b.alias_of].place) {
      return fmt::format("buffer {} aliases {} in another place", index,
                         b.alias_of);
    }
    return CheckPart(index);
  }

  MaybeError CheckPart(int index) const {
    const Buffer& b = program_.buffers[index];
    for (const Layout::Dim& dim : b.layout.dims) {
      if (dim.span != 0 && dim.span <= dim.extent) {
        return fmt::format("buffer {}: layout {} has a span without a gap",
                           index, ToString(b.layout));
      }
    }
    const bool window = static_cast<size_t>(index) < windows_;
    if (b.layout.has_gaps() && b.alias_of < 0 && !window) {
      return fmt::format("buffer {} is a window of no other buffer", index);
    }
    if (b.alias_begin == 0 && (b.alias_of < 0 || !b.layout.has_gaps())) {
      return std::nullopt;
    }
    if (b.alias_of < 0 || b.alias_begin < 0 ||
        b.alias_begin + b.reach_bytes() >
            program_.buffers[b.alias_of].reach_bytes()) {
      return fmt::format("buffer {} leaves what it is a part of", index);
    }
    return std::nullopt;
  }

  MaybeError CheckNextState(int index) const {
    const Buffer& b = program_.buffers[index];
    if (!InRange(b.state) ||
        program_.buffers[b.state].kind != BufferKind::kState) {
      return fmt::format("buffer {} is the next value of no state", index);
    }
    const Buffer& state = program_.buffers[b.state];
    if (state.type != b.type || state.layout != b.layout) {
      return fmt::format("next state {} is unlike its state {}", index,
                         b.state);
    }
    if (b.alias_of >= 0 && b.alias_of != b.state) {
      return fmt::format("next state {} lies in buffer {}", index, b.alias_of);
    }
    return std::nullopt;
  }

  // Returns whether a buffer names the old value of a state that was written in
  // place.
  bool Stale(int buffer) const {
    while (program_.buffers[buffer].alias_of >= 0) {
      if (program_.buffers[buffer].kind == BufferKind::kNextState) return false;
      buffer = program_.buffers[buffer].alias_of;
    }
    return overwritten_[buffer];
  }

  MaybeError CheckStep(const Step& step) {
    for (const int b : step.inputs) {
      if (InRange(b) && Stale(b)) {
        return fmt::format("buffer {} is read after its state was written", b);
      }
      if (!InRange(b)) return fmt::format("buffer {} does not exist", b);
      if (!written_[b])
        return fmt::format("buffer {} is read before written", b);
    }
    for (const int b : step.outputs) {
      if (!InRange(b)) return fmt::format("buffer {} does not exist", b);
      if (written_[b]) return fmt::format("buffer {} is written twice", b);
    }
    if (step.view && !step.inputs.empty() && !step.outputs.empty() &&
        program_.buffers[step.inputs[0]].layout.has_gaps() &&
        program_.Root(step.inputs[0]) == program_.Root(step.outputs[0])) {
      return "a view of a window";
    }
    if (step.outputs.empty()) return "a step without outputs";
    if (step.body.row_major()) {
      for (const int b : step.operands()) {
        if (program_.buffers[b].layout.row_major()) continue;
        return fmt::format("buffer {} is not row-major", b);
      }
    }
    MaybeError error = CheckPlaces(step);
    if (!error) error = step.body.Verify(program_, step);
    if (!error) error = beside_.Check(step);
    if (!error && !SweepsKeepApart(program_, step)) {
      error = "a sweep writes what another one reads";
    }
    for (const int b : step.outputs) {
      written_[b] = true;
      const Buffer& buffer = program_.buffers[b];
      const bool in_place =
          buffer.kind == BufferKind::kNextState && buffer.alias_of >= 0;
      if (in_place) overwritten_[buffer.state] = true;
    }
    return error;
  }

  // Kinds are how the text form, and the runtime, tell places apart.
  MaybeError CheckPlaceTable() const {
    std::set<PlaceKind> kinds;
    for (const ProgramPlace& place : program_.places) {
      if (!kinds.insert(place.kind).second) return "two places of one kind";
    }
    const bool first = !program_.places.empty() &&
                       program_.places[kKernelPlace].kind == PlaceKind::kDevice;
    if (first) return std::nullopt;
    return "the first place is not that of the kernels";
  }

  MaybeError CheckPlaces(const Step& step) const {
    if (step.body.places() == Places::kAny) return std::nullopt;
    const Place place = step.body.places() == Places::kDevice
                            ? kKernelPlace
                            : PlaceOf(program_, step);
    for (const int b : step.operands()) {
      if (program_.buffers[b].place == place) continue;
      return fmt::format("buffer {} lies in another place", b);
    }
    return std::nullopt;
  }

  bool InRange(int buffer) const {
    return buffer >= 0 && buffer < static_cast<int>(program_.buffers.size());
  }

  MaybeError CheckPlan() const {
    if (!program_.planned()) return std::nullopt;
    const std::vector<LiveRange> live = LiveRanges(program_);
    for (size_t i = 0; i < program_.places.size(); ++i) {
      const ProgramPlace& place = program_.places[i];
      int64_t bytes = place.arena_bytes;
      if (place.kind == PlaceKind::kHost) bytes -= HostBytesInside(program_);
      if (auto error = CheckArena(static_cast<Place>(i), bytes, live)) {
        return error;
      }
    }
    return std::nullopt;
  }

  MaybeError CheckArena(Place place, int64_t bytes,
                        const std::vector<LiveRange>& live) const {
    std::vector<int> placed;
    for (size_t i = 0; i < live.size(); ++i) {
      const Buffer& b = program_.buffers[i];
      if (live[i].first < 0 || b.place != place) continue;
      if (b.offset < 0 || b.offset + b.bytes() > bytes) {
        return fmt::format("buffer {} lies outside the arena", i);
      }
      if (b.bytes() > 0) placed.push_back(static_cast<int>(i));
    }
    std::ranges::stable_sort(placed, {}, [&](int b) { return live[b].first; });
    return CheckOverlaps(placed, live);
  }

  // Buffers in the order in which they come. Those that live at a time lie one
  // after the other: each new one is compared with its neighbours.
  MaybeError CheckOverlaps(const std::vector<int>& placed,
                           const std::vector<LiveRange>& live) const {
    std::map<int64_t, int> alive;          // by offset
    std::set<std::pair<int, int>> ending;  // last step, buffer
    for (const int b : placed) {
      const Buffer& buffer = program_.buffers[b];
      while (!ending.empty() && ending.begin()->first < live[b].first) {
        alive.erase(program_.buffers[ending.begin()->second].offset);
        ending.erase(ending.begin());
      }
      const auto next = alive.lower_bound(buffer.offset);
      int other = -1;
      if (next != alive.end() && next->first < buffer.offset + buffer.bytes()) {
        other = next->second;
      } else if (next != alive.begin()) {
        const auto& [offset, below] = *std::prev(next);
        const int64_t end = offset + program_.buffers[below].bytes();
        if (end > buffer.offset) other = below;
      }
      if (other >= 0) {
        return fmt::format("buffers {} and {} overlap while both live",
                           std::min(b, other), std::max(b, other));
      }
      alive.emplace(buffer.offset, b);
      ending.emplace(live[b].last, b);
    }
    return std::nullopt;
  }

  const Program& program_;
  const size_t windows_;
  std::vector<bool> written_;
  std::vector<bool> overwritten_;  // states, by their next value
  BesideCheck beside_;
};

}  // namespace

std::optional<std::string> Verify(const Program& program) {
  return ProgramVerifier(program, 0).Run();
}

std::optional<std::string> VerifyInner(const Program& program, size_t windows) {
  return ProgramVerifier(program, windows).Run();
}

std::optional<std::string> VerifyExpr(const Program& program, const Step& step,
                                      const Expr& e, size_t rank) {
  MaybeError error;
  VisitLoads(e, [&](const ExprNode& load) {
    if (load.index < 0 || load.index >= static_cast<int>(step.inputs.size())) {
      error =
          fmt::format("loads operand {} of {}", load.index, step.inputs.size());
      return;
    }
    const TensorType& type = program.buffers[step.inputs[load.index]].type;
    if (type.dtype != load.dtype ||
        type.shape.dims().size() != load.args.size()) {
      error = fmt::format("loads {} with {} indices as {} from operand {}",
                          ToString(type), load.args.size(),
                          ShortName(load.dtype), load.index);
    }
  });
  for (const int var : FreeVars(e)) {
    if (var >= static_cast<int>(rank)) {
      error = fmt::format("variable {} is unbound", var);
    }
  }
  return error;
}

}  // namespace mxc
