// SPDX-License-Identifier: Apache-2.0
// Layout: where the elements of a tensor lie in memory.
//
// The tensor's axes are cut into parts; `dims` lists the parts from the
// outermost to the innermost. The parts of one axis appear from the most to the
// least significant. An index i of axis a, shifted by halo_low[a], is split in
// mixed radix over the axis's parts. Examples for f[N, C, H, W]:
//
//   row-major           N C H W
//   NCHW8c              N C/8 H W C%8
//   NCHW8c, halo 1      N C/8 (1+H+1) (1+W+1) C%8
//   channels last       N H W C
//
// A window is a box of a larger tensor that lies where the larger one keeps it:
// some channels of each image of a batch, some rows of each channel block. A
// part whose positions are followed by others of the larger tensor counts them
// in its span. Only buffers that lie in another one (alias_of) are windows.
//
//   f[N, C, H, W] of g[N, 4 C, H, W]      N (C of 4 C) H W
//
// Padding (a part product above the axis's extent, the halo) belongs to the
// buffer. The halo is zero whenever a step reads the buffer; the channels that
// fill up the last block are finite, and no step may depend on their values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/tensor.h"

namespace mxc {

// What is stored of a kernel g of r x r (the two last axes): its entries, or
// the n² products G g Gᵀ with which F(m x m, r x r), n = m + r - 1, computes
// tiles of m x m outputs (Lavin and Gray, Fast Algorithms for Convolutional
// Neural Networks, 2015; matrices in kernel_basis.h). The parts of the two axes
// then have extent n, one of a single position stays (1 x r: G g). The layout
// has the transform, not the values: laying a constant out and copies apply it.
// kStrassen: of a 1 x 1 kernel's matrix [out, in] the 7 sums of its quarters
// that Strassen's algorithm multiplies with (quarter_sums.h); out and in are
// half as large then, and the first of the two last axes has the 7.
enum class KernelBasis {
  kPlain,
  kWinograd4,  // n
  kWinograd6,
  kWinograd8,
  kStrassen
};

// Where an axis is cut into blocks: one that is all of it (Layout::AxisLast).
inline constexpr int64_t kWholeAxis = -1;

struct Layout {
  struct Dim {
    int axis = 0;
    int64_t extent = 0;
    // How many positions the next part further out counts to its next one:
    // those of the larger tensor. 0: the extent.
    int64_t span = 0;
    int64_t pitch() const { return span > 0 ? span : extent; }
    friend bool operator==(const Dim&, const Dim&) = default;
  };

  std::vector<Dim> dims;
  Extents halo_low, halo_high;  // for each axis of the tensor
  KernelBasis basis = KernelBasis::kPlain;

  static Layout RowMajor(const Shape& shape);
  // `axis` is cut into blocks of `block`, which become the innermost part.
  static Layout Blocked(const Shape& shape, int axis, int64_t block);
  // `axis` is the innermost; row-major where nothing is within it.
  static Layout AxisLast(const Shape& shape, int axis);
  // The same with a border of zeros; the arguments have one entry for each
  // axis. Only axes of a single part can have a halo.
  Layout WithHalo(const Extents& low, const Extents& high) const;

  bool row_major() const;  // dense: one part for each axis, in order, no halo
  bool has_halo() const;
  // Returns whether elements of a larger tensor lie between those of dims
  // `first` and further in.
  bool has_gaps(size_t first = 0) const;
  Layout WithoutGaps() const;
  int64_t elements() const;  // with all padding, without what lies in gaps
  int64_t reach() const;     // from the first element to the last, with both
  int64_t block(int axis) const;  // innermost part's extent if cut, else 1
  Extents strides() const;        // in elements, for each of `dims`
  // The element offset of a logical index.
  int64_t Offset(const Extents& index) const;

  // With the strides of `larger`, which has the same parts and no shorter ones.
  Layout InStridesOf(const Layout& larger) const;
  // The layout of the box of a tensor of `shape`, which lies in this layout,
  // as a window of it; nothing if the box cuts a block. A cut leaves the border
  // to those parts of the axis that lie at it.
  std::optional<Layout> Window(const Shape& shape, const Extents& begin,
                               const Extents& extent) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

// The parts as axis:extent, then the halos: "{0:1 1:4 2:58 3:58 1:8
// halo2:1+1}"; with a span: "{0:32 1:2 of 8 2:14}".
std::string ToString(const Layout& layout);
std::string_view BasisName(KernelBasis basis);  // empty for kPlain

}  // namespace mxc
