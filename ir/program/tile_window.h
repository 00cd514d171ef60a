// SPDX-License-Identifier: Apache-2.0
// Which part of an operand a tile of a TileLoop sees.
#pragma once

#include <cstdint>
#include <vector>

namespace mxc {

// How an axis of an operand is cut into tiles: tile t sees it from index
// begin + t / repeats % period · advance on. `repeats`: tiles in a row that see
// the same part; `period`: parts after which the first one follows, 0: none.
struct Slide {
  int axis = 0;
  int64_t begin = 0, advance = 0, repeats = 1, period = 0;

  int64_t Part(int64_t tile) const {
    const int64_t part = tile / repeats;
    return period > 0 ? part % period : part;
  }
  int64_t At(int64_t tile) const { return begin + Part(tile) * advance; }
  friend bool operator==(const Slide&, const Slide&) = default;
};

// How an operand is cut: along these axes, each once, and whole along others.
struct Window {
  std::vector<Slide> slides;

  bool is_whole() const { return slides.empty(); }
  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace mxc
