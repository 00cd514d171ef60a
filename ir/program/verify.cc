// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "ir/program/in_place.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

using MaybeError = std::optional<std::string>;

class ProgramVerifier {
 public:
  // `windows`: as many buffers of a tile's program are parts of operands.
  explicit ProgramVerifier(const Program& program, size_t windows = 0)
      : program_(program), windows_(windows) {}

  MaybeError Run() {
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
    if (windows_ > 0 && window != caller) {
      return fmt::format("buffer {} of a tile is {}a window", index,
                         window ? "not " : "");
    }
    if (windows_ > 0 && !caller && b.kind != BufferKind::kInternal) {
      return fmt::format("buffer {} of a tile is not internal", index);
    }
    if (caller && !window && !b.layout.row_major()) {
      return fmt::format("buffer {} belongs to the caller but is not row-major",
                         index);
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

  // Whether a buffer names the old value of a state that was written in place.
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
    MaybeError error = step.map()    ? CheckMap(step, *step.map())
                       : step.loop() ? CheckLoop(step, *step.loop())
                                     : CheckContraction(step);
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

  bool InRange(int buffer) const {
    return buffer >= 0 && buffer < static_cast<int>(program_.buffers.size());
  }

  MaybeError CheckExpr(const Step& step, const Expr& e, size_t rank) const {
    MaybeError error;
    VisitLoads(e, [&](const ExprNode& load) {
      if (load.index < 0 ||
          load.index >= static_cast<int>(step.inputs.size())) {
        error = fmt::format("loads operand {} of {}", load.index,
                            step.inputs.size());
        return;
      }
      const TensorType& type = program_.buffers[step.inputs[load.index]].type;
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

  MaybeError CheckMap(const Step& step, const Map& map) const {
    std::vector<int64_t> covered(step.outputs.size(), 0);
    for (const Store& store : map.stores) {
      if (store.output < 0 ||
          store.output >= static_cast<int>(step.outputs.size())) {
        return fmt::format("stores output {}", store.output);
      }
      const TensorType& type =
          program_.buffers[step.outputs[store.output]].type;
      const size_t rank = type.shape.dims().size();
      if (store.begin.size() != rank || store.extent.size() != rank) {
        return fmt::format("a box of another rank than {}", ToString(type));
      }
      int64_t volume = 1;
      for (size_t axis = 0; axis < rank; ++axis) {
        if (store.begin[axis] < 0 || store.extent[axis] < 1 ||
            store.begin[axis] + store.extent[axis] >
                type.shape[static_cast<int>(axis)]) {
          return fmt::format("a box outside of {}", ToString(type));
        }
        volume *= store.extent[axis];
      }
      covered[store.output] += volume;
      if (store.value->dtype != type.dtype) {
        return fmt::format("stores {} into {}", ShortName(store.value->dtype),
                           ToString(type));
      }
      if (auto error = CheckExpr(step, store.value, rank)) return error;
    }
    for (size_t i = 0; i < covered.size(); ++i) {
      const TensorType& type = program_.buffers[step.outputs[i]].type;
      if (covered[i] != type.shape.elements()) {
        return fmt::format("stores {} of the {} elements of output {}",
                           covered[i], type.shape.elements(), i);
      }
    }
    return std::nullopt;
  }

  MaybeError CheckLoop(const Step& step, const TileLoop& loop) const {
    const std::vector<int> operands = step.operands();
    if (loop.tile == nullptr || loop.tiles < 1 ||
        loop.windows.size() != operands.size() ||
        loop.tile->buffers.size() < operands.size()) {
      return "a loop over tiles without a window for each operand";
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool written = i >= step.inputs.size();
      if (auto error = CheckWindow(loop, i, program_.buffers[operands[i]],
                                   loop.tile->buffers[i], written)) {
        return fmt::format("window {}: {}", i, *error);
      }
    }
    if (loop.tile->arena_bytes < 0) return "a tile without a storage plan";
    if (auto error = ProgramVerifier(*loop.tile, operands.size()).Run()) {
      return fmt::format("tile: {}", *error);
    }
    return std::nullopt;
  }

  static MaybeError CheckWindow(const TileLoop& loop, size_t i,
                                const Buffer& operand, const Buffer& part,
                                bool written) {
    const BufferKind kind = written ? BufferKind::kOutput : BufferKind::kInput;
    if (part.kind != kind || part.type.dtype != operand.type.dtype) {
      return "a buffer of another kind or type";
    }
    const Window& window = loop.windows[i];
    const Extents& whole = operand.type.shape.dims();
    const Extents& extent = part.type.shape.dims();
    if (extent.size() != whole.size() ||
        window.axis >= static_cast<int>(whole.size())) {
      return "a part of another rank";
    }
    for (size_t axis = 0; axis < whole.size(); ++axis) {
      const bool cut = static_cast<int>(axis) == window.axis;
      if (!cut && extent[axis] != whole[axis]) return "a part of other axes";
      if (!cut) continue;
      const int64_t last = window.begin + (loop.tiles - 1) * window.advance;
      const int64_t low = operand.layout.halo_low[axis];
      const int64_t high = operand.layout.halo_high[axis];
      if (std::min(window.begin, last) < -low ||
          std::max(window.begin, last) + extent[axis] > whole[axis] + high) {
        return "a part outside of its operand";
      }
    }
    if (written && !Covers(loop, window, whole, extent)) {
      return "tiles that do not cover an output, each element once";
    }
    if (!BytesOf(window, operand, part)) return "a part of another layout";
    return std::nullopt;
  }

  static bool Covers(const TileLoop& loop, const Window& window,
                     const Extents& whole, const Extents& extent) {
    if (window.axis < 0) return loop.tiles == 1;
    const auto axis = static_cast<size_t>(window.axis);
    return window.begin == 0 && window.advance == extent[axis] &&
           loop.tiles * window.advance == whole[axis];
  }

  MaybeError CheckContraction(const Step& step) const {
    const ContractionStep& body = *step.contraction();
    if (step.inputs.size() < 2 || step.outputs.size() != 1) {
      return "a contraction needs two inputs and one output";
    }
    const Contraction& c = body.contraction;
    const std::pair<const std::vector<Role>*, int> operands[] = {
        {&c.data_axes, step.inputs[0]},
        {&c.weight_axes, step.inputs[1]},
        {&c.output_axes, step.outputs[0]}};
    for (const auto& [axes, buffer] : operands) {
      if (static_cast<int>(axes->size()) !=
          program_.buffers[buffer].type.shape.rank()) {
        return fmt::format("roles of another rank than buffer {}", buffer);
      }
    }
    if (auto error = CheckSpatial(c)) return error;
    if (auto error = CheckMaxima(step, body)) return error;
    const TensorType& type = program_.buffers[step.outputs[0]].type;
    if (body.epilogue->dtype != type.dtype) {
      return fmt::format("stores {} into {}", ShortName(body.epilogue->dtype),
                         ToString(type));
    }
    return CheckExpr(step, body.epilogue, type.shape.dims().size());
  }

  MaybeError CheckMaxima(const Step& step, const ContractionStep& body) const {
    if (body.maxima.empty()) return std::nullopt;
    const Contraction& c = body.contraction;
    if (body.maxima.size() != c.kernel.size()) return "maxima of other axes";
    const Shape& shape = program_.buffers[step.outputs[0]].type.shape;
    for (size_t axis = 0; axis < c.output_axes.size(); ++axis) {
      if (c.output_axes[axis] < Role::kSpatial0) continue;
      const size_t k = static_cast<size_t>(c.output_axes[axis]) -
                       static_cast<size_t>(Role::kSpatial0);
      if (k >= body.maxima.size() || body.maxima[k] < 1 ||
          shape[static_cast<int>(axis)] != c.output[k] / body.maxima[k]) {
        return "maxima of windows that are not the output's";
      }
    }
    return std::nullopt;
  }

  static MaybeError CheckSpatial(const Contraction& c) {
    const std::tuple<std::string_view, const Extents*, int64_t> lists[] = {
        {"input", &c.input, 1},    {"output", &c.output, 1},
        {"kernel", &c.kernel, 1},  {"stride", &c.stride, 1},
        {"dilate", &c.dilate, 1},  {"data_dilate", &c.data_dilate, 1},
        {"pad", &c.pad, INT64_MIN}};
    if (c.kernel.size() > 3) return "more than three spatial axes";
    for (const auto& [name, extents, least] : lists) {
      if (extents->size() != c.kernel.size()) {
        return fmt::format("{} has {} entries, kernel {}", name,
                           extents->size(), c.kernel.size());
      }
      for (const int64_t extent : *extents) {
        if (extent < least) return fmt::format("{} holds {}", name, extent);
      }
    }
    return std::nullopt;
  }

  MaybeError CheckPlan() const {
    if (program_.arena_bytes < 0) return std::nullopt;
    const std::vector<LiveRange> live = LiveRanges(program_);
    std::vector<int> placed;
    for (size_t i = 0; i < live.size(); ++i) {
      const Buffer& b = program_.buffers[i];
      if (live[i].first < 0) continue;
      if (b.offset < 0 || b.offset + b.bytes() > program_.arena_bytes) {
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
};

}  // namespace

std::optional<std::string> Verify(const Program& program) {
  return ProgramVerifier(program).Run();
}

}  // namespace mxc
