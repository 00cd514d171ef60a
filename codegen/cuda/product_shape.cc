// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_shape.h"

#include <algorithm>

#include "ir/support/division.h"
#include "ir/target/cuda_target.h"

namespace mxc {
namespace {

// Smaller products leave most of a tile unused; each thread then computes an
// output of its own.
constexpr int64_t kLeastRows = 16, kLeastColumns = 8, kLeastDepth = 8;
constexpr int64_t kLeastProducts = 1 << 15;
// Of a part of the depth, and how many parts one step adds.
constexpr int64_t kLeastPartDepth = 128, kMostParts = 32;
// What three products of tf32 reach, beside plain multiply-adds of f32.
constexpr double kRate = 1.5;
// Warps that a multiprocessor needs to reach that.
constexpr int kFullWarps = 4;
// Launches whose time adding the parts must save by this estimate.
constexpr double kLaunchesSaved = 5;

ProductTile TileFor(const ProductExtents& extents) {
  const int columns = extents.columns <= 32 ? 32 : 64;
  if (extents.rows <= 32) return {32, columns};
  return {extents.rows <= 64 ? 64 : 128, columns};
}

// Of one block, on a multiprocessor of its own.
double BlockSeconds(const ProductTile& tile, int64_t depth,
                    const Machine& machine, int64_t multiprocessors) {
  const double rate = kRate * machine.contraction_flops_per_second /
                      static_cast<double>(multiprocessors);
  const double share = std::min(1.0, tile.threads() / 32.0 / kFullWarps);
  return 2.0 * tile.rows * tile.columns * static_cast<double>(depth) /
         (rate * share);
}

// Where there are too few tiles for the device, the images of a gradient's
// batch, or the channels, are dealt to more of them.
int64_t PartsOf(const Contraction& c, const ProductExtents& extents,
                const ProductTile& tile, const Machine& machine) {
  if (c.groups != 1) return 0;
  const int64_t multiprocessors = Multiprocessors(machine);
  const double seconds =
      BlockSeconds(tile, extents.depth, machine, multiprocessors);
  const int64_t wanted = multiprocessors / extents.Blocks(tile);
  const int64_t most =
      std::min({wanted, kMostParts, extents.depth / kLeastPartDepth});
  for (int64_t parts = most; parts > 1; --parts) {
    if (c.in % parts != 0) continue;
    const double saved = seconds - seconds / static_cast<double>(parts);
    return saved > kLaunchesSaved * machine.launch_seconds ? parts : 0;
  }
  return 0;
}

}  // namespace

int64_t ProductExtents::RowTiles(const ProductTile& tile) const {
  return DivideUp(rows, int64_t{tile.rows});
}
int64_t ProductExtents::ColumnTiles(const ProductTile& tile) const {
  return DivideUp(columns, int64_t{tile.columns});
}
int64_t ProductExtents::Blocks(const ProductTile& tile) const {
  return groups * RowTiles(tile) * ColumnTiles(tile);
}

ProductExtents ExtentsOf(const Contraction& c) {
  ProductExtents extents = {c.groups, c.batch, c.out, c.in};
  for (const int64_t extent : c.output) extents.rows *= extent;
  for (const int64_t extent : c.kernel) extents.depth *= extent;
  return extents;
}

ProductTile TileOf(const KernelChoice& choice) {
  return {static_cast<int>(choice.tile_rows),
          static_cast<int>(choice.tile_vectors)};
}

std::vector<KernelCandidate> ProductCandidates(const Contraction& c,
                                               const Machine& machine,
                                               bool tf32) {
  constexpr int64_t kMostBlocks = int64_t{1} << 31;
  const ProductExtents extents = ExtentsOf(c);
  const bool large = extents.rows >= kLeastRows &&
                     extents.columns >= kLeastColumns &&
                     extents.depth >= kLeastDepth;
  const ProductTile tile = TileFor(extents);
  ContractionTypes types = c.types;
  types.output = DType::kF32;  // which the epilogue may round
  if (types != ContractionTypes::All(DType::kF32) || !large ||
      extents.rows * extents.columns * extents.depth < kLeastProducts ||
      extents.rows * extents.depth >= int64_t{1} << 31 ||
      extents.depth >= kMostBlocks || extents.Blocks(tile) >= kMostBlocks) {
    return {};
  }
  KernelCandidate candidate;
  candidate.choice = {tf32 ? kMmaTf32Algorithm : kMmaAlgorithm, 1, tile.rows,
                      tile.columns};
  candidate.weight_block = 1;
  candidate.parts = PartsOf(c, extents, tile, machine);
  candidate.cost =
      2.0 * static_cast<double>(extents.Blocks(tile) * extents.depth) *
      tile.rows * tile.columns / (kRate * machine.contraction_flops_per_second);
  return {candidate};
}

double ProductFlopsPerSecond(const Machine& machine,
                             std::string_view algorithm) {
  const double tf32 = machine.tile_flops_per_second / 2;
  return algorithm == kMmaTf32Algorithm ? tf32 : tf32 / 3;
}

}  // namespace mxc
