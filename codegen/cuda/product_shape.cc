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
// What three products of tf32 reach, beside plain multiply-adds of f32. Other
// products reach the same share of what the units can do.
constexpr double kRate = 1.5;
// Warps that a multiprocessor needs to reach that.
constexpr int kFullWarps = 4;
// Launches whose time adding the parts must save by this estimate.
constexpr double kLaunchesSaved = 5;

bool Has16Bits(std::string_view algorithm) {
  return algorithm == kMmaBf16Algorithm || algorithm == kMmaF16Algorithm;
}

int DepthOf(std::string_view algorithm) {
  return (Has16Bits(algorithm) ? 2 : 1) * ProductTile::kWords;
}

// Null: there is no product of these types.
const char* AlgorithmFor(const ContractionTypes& types, bool tf32) {
  const auto is_taken = [](DType dtype) {
    return dtype == DType::kF32 || dtype == DType::kBF16 ||
           dtype == DType::kF16;
  };
  const bool taken = is_taken(types.data) && is_taken(types.weight);
  if (!taken || types.sum != DType::kF32) return nullptr;
  if (types.data == types.weight) {
    if (types.data == DType::kBF16) return kMmaBf16Algorithm;
    if (types.data == DType::kF16) return kMmaF16Algorithm;
  }
  return tf32 ? kMmaTf32Algorithm : kMmaAlgorithm;
}

// Of the whole device.
double RateOf(std::string_view algorithm, const Machine& machine) {
  const double of_f32 = kRate * machine.contraction_flops_per_second;
  if (!Has16Bits(algorithm)) return of_f32;
  return of_f32 * ProductFlopsPerSecond(machine, algorithm) /
         ProductFlopsPerSecond(machine, kMmaAlgorithm);
}

ProductTile TileFor(const ProductExtents& extents, const char* algorithm) {
  const int columns = extents.columns <= 32 ? 32 : 64;
  const int rows = extents.rows <= 32 ? 32 : extents.rows <= 64 ? 64 : 128;
  return {rows, columns, DepthOf(algorithm)};
}

// Of one block, on a multiprocessor of its own.
double BlockSeconds(const ProductTile& tile, int64_t depth, double device_rate,
                    int64_t multiprocessors) {
  const double rate = device_rate / static_cast<double>(multiprocessors);
  const double share = std::min(1.0, tile.threads() / 32.0 / kFullWarps);
  return 2.0 * tile.rows * tile.columns * static_cast<double>(depth) /
         (rate * share);
}

// Where there are too few tiles for the device, the images of a gradient's
// batch, or the channels, are dealt to more of them.
int64_t PartsOf(const Contraction& c, const ProductExtents& extents,
                const ProductTile& tile, double rate, const Machine& machine) {
  if (c.groups != 1) return 0;
  const int64_t multiprocessors = Multiprocessors(machine);
  const double seconds =
      BlockSeconds(tile, extents.depth, rate, multiprocessors);
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
          static_cast<int>(choice.tile_vectors), DepthOf(choice.algorithm)};
}

bool IsProductAlgorithm(std::string_view algorithm) {
  return Has16Bits(algorithm) || algorithm == kMmaAlgorithm ||
         algorithm == kMmaTf32Algorithm;
}

std::vector<KernelCandidate> ProductCandidates(const Contraction& c,
                                               const Machine& machine,
                                               bool tf32) {
  constexpr int64_t kMostBlocks = int64_t{1} << 31;
  const ProductExtents extents = ExtentsOf(c);
  const bool large = extents.rows >= kLeastRows &&
                     extents.columns >= kLeastColumns &&
                     extents.depth >= kLeastDepth;
  const char* algorithm = AlgorithmFor(c.types, tf32);
  if (algorithm == nullptr || !large) return {};
  const ProductTile tile = TileFor(extents, algorithm);
  const double rate = RateOf(algorithm, machine);
  if (extents.rows * extents.columns * extents.depth < kLeastProducts ||
      extents.rows * extents.depth >= int64_t{1} << 31 ||
      extents.depth >= kMostBlocks || extents.Blocks(tile) >= kMostBlocks) {
    return {};
  }
  KernelCandidate candidate;
  candidate.choice = {algorithm, 1, tile.rows, tile.columns};
  candidate.weight_block = 1;
  candidate.parts = PartsOf(c, extents, tile, rate, machine);
  candidate.cost = 2.0 *
                   static_cast<double>(extents.Blocks(tile) * extents.depth) *
                   tile.rows * tile.columns / rate;
  return {candidate};
}

double ProductFlopsPerSecond(const Machine& machine,
                             std::string_view algorithm) {
  if (Has16Bits(algorithm)) return machine.tile_flops_per_second;
  const double tf32 = machine.tile_flops_per_second / 2;
  return algorithm == kMmaTf32Algorithm ? tf32 : tf32 / 3;
}

}  // namespace mxc
