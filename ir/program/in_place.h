// SPDX-License-Identifier: Apache-2.0
// Boxes of one buffer that lie in another, where it keeps them anyway: parts of
// a concatenation, slices.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/program.h"
#include "ir/program/tile_window.h"

namespace mxc {

// A store that copies a box of an input as it is: element `from` of the input
// goes to the store's `begin`, and so on along all axes.
struct BoxCopy {
  int input = 0;  // number of the operand
  Extents from;
};
std::optional<BoxCopy> MatchBoxCopy(const Store& store);

// Bytes by which the element of `to` lies further into its buffer than that of
// `from` does, if that is the same for each element of the box that begins
// at these indices.
std::optional<int64_t> BytesBetween(const Buffer& from,
                                    const Extents& from_begin, const Buffer& to,
                                    const Extents& to_begin,
                                    const Extents& extent);

// Where the windows of a TileLoop lie: that of tile t begins `begin` bytes into
// the operand, and what each of the slides, whose advance is in bytes, adds.
struct WindowBytes {
  int64_t begin = 0;
  std::vector<Slide> slides;
};
// Nothing where the operand's layout does not keep the elements of a window as
// that of `part`, its buffer in the tile's program, does.
std::optional<WindowBytes> BytesOf(const Window& window, const Buffer& operand,
                                   const Buffer& part);

// So many consecutive elements, row-major: where they begin in an operand and
// in its window.
struct WindowRun {
  int64_t operand = 0, part = 0, count = 0;
};
// The elements of an operand that the window of tile t holds. Positions of the
// window outside of the operand are left out.
std::vector<WindowRun> RunsOf(const Window& window, int64_t tile,
                              const Shape& operand, const Shape& part);

// Returns whether two buffers of one type and layout begin at the same byte of
// one root.
bool HaveSameBytes(const Program& program, int a, int b);

// Returns whether a step has nothing to do: its stores copy what lies, under
// aliases, where they would put it.
bool IsInPlace(const Program& program, const Step& step);

// The same, or a view whose output is its input's bytes: no code runs for it.
bool IsIdle(const Program& program, const Step& step);

// Returns whether each sweep of the step (SweepsOf) reads nothing that lies
// where another one writes: they run at once, so one would write what another
// has yet to read.
bool SweepsKeepApart(const Program& program, const Step& step);

}  // namespace mxc
