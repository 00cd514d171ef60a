// SPDX-License-Identifier: Apache-2.0
// A contraction as products of matrices: for each group g
//
//   out[row, column] = Σ depth: data[row, depth] · weight[column, depth]
//
// where a row is an image's position, a column an output channel, and the depth
// runs over the input channels and the kernel's positions. No matrix of data is
// ever formed: a thread that needs an element finds out where it lies, or that
// the window leaves the data there (implicit GEMM).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/gpu_machine.h"
#include "codegen/cuda/product_layouts.h"
#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"

namespace mxc {

// The units of devices (ir/target/cuda_target.cc) for which there are kernels.
// Products of f32, and of f32 that are rounded to tf32: operands of 16 bits
// become f32 on their way into the registers. Where both sides have the same 16
// bits, they are multiplied as that.
inline constexpr char kMmaAlgorithm[] = "mma";
inline constexpr char kMmaTf32Algorithm[] = "mma_tf32";
inline constexpr char kMmaBf16Algorithm[] = "mma_bf16";
inline constexpr char kMmaF16Algorithm[] = "mma_f16";
// The same by warpgroups, of devices that have them.
inline constexpr char kWgmmaBf16Algorithm[] = "wgmma_bf16";
inline constexpr char kWgmmaF16Algorithm[] = "wgmma_f16";
bool IsProductAlgorithm(std::string_view algorithm);

// A block of threads computes rows x columns of out, each of its warps warp_rows
// x 32 of them; or each of its warpgroups, which are four warps, 64 rows.
struct ProductTile {
  int rows = 0, columns = 0;
  int warp_rows = 32;
  bool warpgroups = false;
  // What comes into shared memory at once: words of each line, for a product of
  // 16 bits with two elements in each; what a warpgroup takes at once.
  static constexpr int kWords = 16, kWarpgroupDepth = 64;
  int depth = kWords;

  // How many times that is there: one is multiplied while the others are on
  // their way. Warpgroups still multiply the one before.
  int stages() const { return warpgroups ? 4 : 3; }
  static constexpr int kAhead = 2;
  static constexpr int kWarpColumns = 32, kLeast = 32;
  static constexpr int kWarpgroupRows = 64, kWarpsOfGroup = 4;
  int warps() const {
    return warpgroups ? rows / kWarpgroupRows * kWarpsOfGroup
                      : rows / warp_rows * (columns / kWarpColumns);
  }
  int threads() const { return 32 * warps(); }
};

struct ProductExtents {
  int64_t groups = 1, rows = 1, columns = 1, depth = 1;

  int64_t RowTiles(const ProductTile& tile) const;
  int64_t ColumnTiles(const ProductTile& tile) const;
  int64_t Blocks(const ProductTile& tile) const;
};

ProductExtents ExtentsOf(const Contraction& c);

// What the numbers of a KernelChoice are to this back end: the tile, whether
// operands have their channels last, and whether one of the device's libraries
// computes it where there is one.
struct ProductChoice {
  ProductTile tile;
  bool channels_last = false, library = false;
};
KernelChoice MakeProductChoice(std::string_view algorithm,
                               const ProductChoice& product);
// Of one that ProductCandidates offered.
ProductChoice ProductOf(const KernelChoice& choice);
ProductTile TileOf(const KernelChoice& choice);
// Also of a choice that is no kernel's.
bool IsOfLibrary(const KernelChoice& choice);
// That kernel, for what the library before it does not compute.
KernelChoice ProductWithLibrary(const KernelChoice& kernel);
// "mma 128x64", "mma 128x64 by 64 rows", "mma 128x64 or library"
std::string DescribeProduct(const KernelChoice& choice);

// The kernels that a device has for the contraction, best first: tiles of
// several sizes, whose sums are the same bytes; sums in other numbers of parts,
// whose are not; a library.
std::vector<KernelCandidate> ProductCandidates(const Contraction& c,
                                               const GpuMachine& machine,
                                               bool tf32 = false);

// The unit that has the algorithm's name; one that the machine has.
const ProductUnit& UnitOf(const Machine& machine, std::string_view algorithm);

}  // namespace mxc
