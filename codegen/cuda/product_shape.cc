// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_shape.h"

#include <algorithm>

#include "codegen/cuda/library_task.h"
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
// Sums that a multiprocessor must have in hand to reach that.
constexpr double kFullSums = 4 * 32 * 32;
// Launches whose time adding the parts must save by this estimate.
constexpr double kLaunchesSaved = 5;

bool IsLarge(const ProductExtents& extents) {
  return extents.rows >= kLeastRows && extents.columns >= kLeastColumns &&
         extents.depth >= kLeastDepth &&
         extents.rows * extents.columns * extents.depth >= kLeastProducts;
}

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
  return of_f32 * ProductFlopsPerSecond(machine, algorithm) /
         ProductFlopsPerSecond(machine, kMmaAlgorithm);
}

// What blocks may compute: rows, columns, rows of a warp. The first one of which
// the product fills more than half is chosen where nothing was measured.
constexpr int kTiles[][3] = {{128, 64, 32}, {128, 64, 64}, {64, 64, 32},
                             {64, 64, 64},  {128, 32, 32}, {64, 32, 32},
                             {32, 64, 32},  {32, 32, 32}};

std::vector<ProductTile> TilesFor(const ProductExtents& extents,
                                  const char* algorithm) {
  const auto fills = [](int64_t extent, int tile) {
    return tile == ProductTile::kLeast || extent > tile / 2;
  };
  std::vector<ProductTile> tiles;
  for (const auto& [rows, columns, warp_rows] : kTiles) {
    if (!fills(extents.rows, rows) || !fills(extents.columns, columns))
      continue;
    tiles.push_back({rows, columns, warp_rows, DepthOf(algorithm)});
  }
  return tiles;
}

// A contraction on a device, by one algorithm.
struct Task {
  const Contraction& contraction;
  ProductExtents extents;
  const char* algorithm = nullptr;
  double rate = 0;  // of the whole device
  const Machine& machine;
  ProductLayouts layouts = {};
  const ProductReading& reading;
};

// Of a tile's copies, which run beside its products: of the whole device's time,
// for each element of the depth.
double CopySeconds(const Task& task, const ProductTile& tile) {
  return task.reading.Instructions(tile.rows, tile.columns, tile.depth,
                                   tile.threads()) /
         InstructionsPerSecond(task.machine);
}

// Of the multiprocessor that has the most blocks; the sums are dealt in so many
// parts.
double BusiestSeconds(const Task& task, const ProductTile& tile,
                      int64_t parts) {
  const int64_t multiprocessors = Multiprocessors(task.machine);
  const auto blocks = static_cast<double>(
      DivideUp(parts * task.extents.Blocks(tile), multiprocessors));
  const double sums = blocks * tile.rows * tile.columns;
  const double seconds =
      std::max(2 * sums / (task.rate * std::min(1.0, sums / kFullSums)),
               blocks * CopySeconds(task, tile));
  return static_cast<double>(multiprocessors) * seconds *
         static_cast<double>(task.extents.depth / parts);
}

// Where there are too few tiles for the device, the images of a gradient's
// batch, or the channels, are dealt to more of them.
int64_t PartsOf(const Task& task, const ProductTile& tile) {
  if (task.contraction.groups != 1) return 1;
  const int64_t blocks = task.extents.Blocks(tile);
  const int64_t most =
      std::min({Multiprocessors(task.machine) / blocks, kMostParts,
                task.extents.depth / kLeastPartDepth});
  for (int64_t parts = most; parts > 1; --parts) {
    if (task.contraction.in % parts != 0) continue;
    // The parts have the kernel that is chosen for the whole.
    const Contraction in_parts = InParts(task.contraction, parts);
    if (!IsLarge(ExtentsOf(in_parts))) continue;
    if (task.layouts.any() && !ChannelsLast(in_parts).any()) {
      continue;
    }
    const double saved =
        BusiestSeconds(task, tile, 1) - BusiestSeconds(task, tile, parts);
    return saved > kLaunchesSaved * task.machine.launch_seconds ? parts : 1;
  }
  return 1;
}

KernelCandidate CandidateOf(const Task& task, const ProductTile& tile,
                            int64_t parts) {
  KernelCandidate candidate;
  candidate.choice = {task.algorithm, 1, tile.rows, tile.columns,
                      tile.warp_rows};
  AskFor(task.layouts, task.contraction, task.machine, candidate);
  candidate.parts = parts > 1 ? parts : 0;
  candidate.cost =
      static_cast<double>(task.extents.Blocks(tile) * task.extents.depth) *
      std::max(2.0 * tile.rows * tile.columns / task.rate,
               CopySeconds(task, tile));
  return candidate;
}

// The first tile is the choice; what else may be the fastest follows, as the
// busiest multiprocessor says, and before it a library,
// of which nothing is known.
std::vector<KernelCandidate> CandidatesOf(const Task& task) {
  std::vector<KernelCandidate> candidates;
  std::vector<double> seconds;
  const auto add = [&](const ProductTile& tile, int64_t parts) {
    candidates.push_back(CandidateOf(task, tile, parts));
    seconds.push_back(BusiestSeconds(task, tile, parts) +
                      (parts > 1 ? task.machine.launch_seconds : 0));
    KernelCandidate &candidate = candidates.back(), &first = candidates[0];
    candidate.cost = first.cost * std::max(1.0, seconds.back() / seconds[0]);
  };
  for (const ProductTile& tile : TilesFor(task.extents, task.algorithm)) {
    const int64_t parts = PartsOf(task, tile);
    add(tile, parts);
    if (parts > 1) add(tile, 1);
  }
  if (MayBeOfLibrary(task.contraction)) {
    candidates.insert(candidates.begin() + 1, candidates[0]);
    candidates[1].choice.library = true;
    candidates[1].parts = 0;
    candidates[1].scratch_bytes = LibraryWorkspace(task.contraction);
  }
  std::ranges::stable_sort(std::span(candidates).subspan(1), {},
                           &KernelCandidate::cost);
  return candidates;
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
          static_cast<int>(choice.tile_vectors),
          static_cast<int>(choice.warp_rows), DepthOf(choice.algorithm)};
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
  const char* algorithm = AlgorithmFor(c.types, tf32);
  if (algorithm == nullptr) return {};
  const bool countable =
      extents.rows * extents.depth < int64_t{1} << 31 &&
      extents.depth < kMostBlocks &&
      extents.Blocks(ProductTile{ProductTile::kLeast, ProductTile::kLeast}) <
          kMostBlocks;
  if (!countable || !IsLarge(extents)) return {};
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const ProductLayouts& layouts) {
    const ProductReading reading(c, layouts);
    const auto more =
        CandidatesOf({c, extents, algorithm, RateOf(algorithm, machine),
                      machine, layouts, reading});
    const bool first = candidates.empty() ||
                       more[0].cost + more[0].packing_cost < candidates[0].cost;
    candidates.insert(first ? candidates.begin() : candidates.end(),
                      more.begin(), more.end());
  };
  add({});
  if (const ProductLayouts last = ChannelsLast(c); last.any()) add(last);
  return candidates;
}

double ProductSeconds(const Contraction& c, const KernelChoice& choice,
                      const Machine& machine, const ProductLayouts& layouts) {
  const ProductReading reading(c, layouts);
  const ProductTile tile = TileOf(choice);
  const ProductExtents extents = ExtentsOf(c);
  const double copies =
      reading.Instructions(tile.rows, tile.columns, tile.depth,
                           tile.threads()) /
      InstructionsPerSecond(machine) *
      static_cast<double>(extents.Blocks(tile) * extents.depth);
  return std::max(static_cast<double>(c.flops()) /
                      ProductFlopsPerSecond(machine, choice.algorithm),
                  copies);
}

double ProductFlopsPerSecond(const Machine& machine,
                             std::string_view algorithm) {
  if (Has16Bits(algorithm)) return machine.tile_flops_per_second;
  const double tf32 = machine.tile_flops_per_second / 2;
  return algorithm == kMmaTf32Algorithm ? tf32 : tf32 / 3;
}

}  // namespace mxc
