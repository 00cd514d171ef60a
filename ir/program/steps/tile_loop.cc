// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/tile_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/program/in_place.h"
#include "ir/program/inner_program.h"
#include "ir/program/interpreter.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/program/verify.h"

namespace mxc {
namespace {

constexpr int64_t kMaxRank = 16;

std::string PrintWindow(const Window& window) {
  if (window.axis < 0) return "whole";
  const std::string axis = fmt::format("axis {} from {} by {}", window.axis,
                                       window.begin, window.advance);
  if (window.repeats == 1) return axis;
  return fmt::format("{} each {}", axis, window.repeats);
}

Window ReadWindow(Lexer& lex) {
  Window window;
  if (lex.Accept("whole")) return window;
  lex.Expect("axis");
  window.axis = static_cast<int>(lex.Integer());
  if (window.axis < 0 || window.axis >= kMaxRank) lex.Fail("an axis");
  lex.Expect("from");
  window.begin = lex.Integer();
  lex.Expect("by");
  window.advance = lex.Integer();
  if (lex.Accept("each")) window.repeats = lex.Integer();
  if (window.repeats < 1) lex.Fail("a number of tiles");
  return window;
}

bool Covers(const TileLoop& loop, const Window& window, const Extents& whole,
            const Extents& extent) {
  if (window.axis < 0) return loop.tiles == 1;
  const auto axis = static_cast<size_t>(window.axis);
  return window.begin == 0 && window.repeats == 1 &&
         window.advance == extent[axis] &&
         loop.tiles * window.advance == whole[axis];
}

std::optional<std::string> VerifyWindow(const TileLoop& loop, size_t i,
                                        const Buffer& operand,
                                        const Buffer& part, bool written) {
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
    const int64_t last = window.At(loop.tiles - 1);
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

// A tile's own arrays hold what its windows show and what its steps make.
void InterpretTile(const TileLoop& loop, int64_t t, StepValues& values) {
  const Program& tile = *loop.tile;
  const std::vector<int> operands = values.step.operands();
  const auto runs = [&](size_t w) {
    return RunsOf(loop.windows[w], t,
                  values.program.buffers[operands[w]].type.shape,
                  tile.buffers[w].type.shape);
  };
  std::vector<std::vector<Element>> own(tile.buffers.size());
  std::vector<const std::vector<Element>*> at;
  for (const auto& array : own) at.push_back(&array);
  for (size_t w = 0; w < values.inputs.size(); ++w) {
    if (loop.windows[w].axis < 0) {
      at[w] = values.inputs[w];
      continue;
    }
    own[w].resize(tile.buffers[w].type.shape.elements());
    for (const WindowRun& run : runs(w)) {
      std::copy_n(values.inputs[w]->begin() + run.operand, run.count,
                  own[w].begin() + run.part);
    }
  }
  for (const Step& step : tile.steps) {
    InterpretStep(tile, step, at, values.arithmetic, own);
  }
  for (size_t o = 0; o < values.outputs.size(); ++o) {
    const size_t w = values.inputs.size() + o;
    for (const WindowRun& run : runs(w)) {
      std::copy_n(own[w].begin() + run.part, run.count,
                  values.outputs[o].begin() + run.operand);
    }
  }
}

}  // namespace

std::string TileLoop::Print() const {
  std::string out = fmt::format("    tiles {} (", tiles);
  for (size_t i = 0; i < windows.size(); ++i) {
    out += (i > 0 ? ", " : "") + PrintWindow(windows[i]);
  }
  return out + ")" + PrintInner(*tile);
}

StepBody ReadTileLoop(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("tiles");
  TileLoop loop;
  loop.tiles = lex.Integer();
  lex.Expect("(");
  while (!lex.AtEnd() && !lex.Accept(")")) {
    if (!loop.windows.empty()) lex.Expect(",");
    loop.windows.push_back(ReadWindow(lex));
  }
  loop.tile = reader.Inner();
  return loop;
}

std::optional<std::string> TileLoop::Verify(const Program& program,
                                            const Step& step) const {
  const std::vector<int> operands = step.operands();
  if (tile == nullptr || tiles < 1 || windows.size() != operands.size() ||
      tile->buffers.size() < operands.size()) {
    return "a loop over tiles without a window for each operand";
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool written = i >= step.inputs.size();
    if (auto error = VerifyWindow(*this, i, program.buffers[operands[i]],
                                  tile->buffers[i], written)) {
      return fmt::format("window {}: {}", i, *error);
    }
  }
  if (!tile->BuffersOf(BufferKind::kConstant).empty()) {
    return "a constant in a tile";
  }
  if (!tile->planned()) return "a tile without a storage plan";
  if (auto error = VerifyInner(*tile, operands.size())) {
    return fmt::format("tile: {}", *error);
  }
  return std::nullopt;
}

void TileLoop::Interpret(StepValues& values) const {
  for (int64_t t = 0; t < tiles; ++t) InterpretTile(*this, t, values);
}

// All that the calls depend on: windows, addresses, and the kernels by their
// own keys.
std::string TileLoop::Key(const Program&, const Step&,
                          const ExprText& text) const {
  std::string key = fmt::format("|tiles {}", tiles);
  for (const Window& window : windows) {
    key += fmt::format("({},{},{},{})", window.axis, window.begin,
                       window.advance, window.repeats);
  }
  return key + InnerKey(*tile, windows.size(), text);
}

double TileLoop::Flops(const Program&, const Step&) const {
  return static_cast<double>(tiles) * InnerFlops(*tile);
}

bool TileLoop::IsPure() const { return mxc::IsPure(*tile); }

bool TileLoop::MayFail() const { return mxc::MayFail(*tile); }

}  // namespace mxc
