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
  if (window.is_whole()) return "whole";
  std::string out;
  for (const Slide& slide : window.slides) {
    if (!out.empty()) out += " and ";
    out += fmt::format("axis {} from {} by {}", slide.axis, slide.begin,
                       slide.advance);
    if (slide.repeats != 1) out += fmt::format(" each {}", slide.repeats);
    if (slide.period != 0) out += fmt::format(" of {}", slide.period);
  }
  return out;
}

Slide ReadSlide(Lexer& lex) {
  Slide slide;
  lex.Expect("axis");
  slide.axis = static_cast<int>(lex.Integer());
  if (slide.axis < 0 || slide.axis >= kMaxRank) lex.Fail("an axis");
  lex.Expect("from");
  slide.begin = lex.Integer();
  lex.Expect("by");
  slide.advance = lex.Integer();
  if (lex.Accept("each")) slide.repeats = lex.Integer();
  if (lex.Accept("of")) slide.period = lex.Integer();
  if (slide.repeats < 1 || slide.period < 0) lex.Fail("a number of tiles");
  return slide;
}

Window ReadWindow(Lexer& lex) {
  Window window;
  if (lex.Accept("whole")) return window;
  do {
    window.slides.push_back(ReadSlide(lex));
  } while (!lex.AtEnd() && lex.Accept("and"));
  return window;
}

// Parts side by side along each axis that is cut, each combination once.
bool Covers(const TileLoop& loop, const Window& window, const Extents& whole,
            const Extents& extent) {
  std::vector<Slide> slides = window.slides;
  std::ranges::sort(slides, {}, &Slide::repeats);
  int64_t tiles = 1;
  for (const Slide& slide : slides) {
    const auto axis = static_cast<size_t>(slide.axis);
    const int64_t parts = whole[axis] / extent[axis];
    const bool side_by_side = slide.begin == 0 &&
                              slide.advance == extent[axis] &&
                              parts * extent[axis] == whole[axis];
    if (!side_by_side || slide.repeats != tiles) return false;
    tiles *= parts;
    if (slide.period != parts && tiles != loop.tiles) return false;
  }
  return tiles == loop.tiles;
}

// The slide along the axis, or null.
const Slide* SlideOf(const Window& window, size_t axis) {
  const auto found =
      std::ranges::find(window.slides, static_cast<int>(axis), &Slide::axis);
  return found == window.slides.end() ? nullptr : &*found;
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
  if (extent.size() != whole.size()) return "a part of another rank";
  size_t cuts = 0;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    const Slide* slide = SlideOf(window, axis);
    if (slide == nullptr) {
      if (extent[axis] != whole[axis]) return "a part of other axes";
      continue;
    }
    cuts += 1;
    int64_t parts = (loop.tiles - 1) / slide->repeats;
    if (slide->period > 0) parts = std::min(parts, slide->period - 1);
    const int64_t last = slide->begin + parts * slide->advance;
    const int64_t low = operand.layout.halo_low[axis];
    const int64_t high = operand.layout.halo_high[axis];
    if (std::min(slide->begin, last) < -low ||
        std::max(slide->begin, last) + extent[axis] > whole[axis] + high) {
      return "a part outside of its operand";
    }
  }
  if (cuts != window.slides.size()) return "an axis that is cut twice";
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
    if (loop.windows[w].is_whole()) {
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
    key += "(" + PrintWindow(window) + ")";
  }
  return key + InnerKey(*tile, windows.size(), text);
}

double TileLoop::Flops(const Program&, const Step&) const {
  return static_cast<double>(tiles) * InnerFlops(*tile);
}

bool TileLoop::IsPure() const { return mxc::IsPure(*tile); }

bool TileLoop::MayFail() const { return mxc::MayFail(*tile); }

}  // namespace mxc
