// SPDX-License-Identifier: Apache-2.0
// The step kind TileLoop: several steps run tile by tile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/step_values.h"
#include "ir/program/tile_window.h"

namespace mxc {

// Steps that run one after the other on one tile of their tensors, then on the
// next: what they hand to each other is never there as a whole, and a tile of
// it stays in a core's caches. Tiles are independent; each is a task.
//
// Buffer i of the tile's program is the window of the step's operand i (inputs,
// then outputs), of kind kInput or kOutput and with the layout of its part of
// the operand; an alias of an earlier window where both operands share bytes.
// The other buffers are internal and lie in the thread's scratch, as planned.
struct TileLoop {
  int64_t tiles = 1;
  std::vector<Window> windows;  // for each operand
  std::shared_ptr<const Program> tile;

  static constexpr Layouts kLayouts = Layouts::kAny;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
  bool IsPure() const;
  bool MayFail() const;
};

}  // namespace mxc
