// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "codegen/cuda/library_task.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

// Smaller products leave most of a tile unused; each thread then computes an
// output of its own.
constexpr int64_t kLeastRows = 16, kLeastColumns = 8, kLeastDepth = 8;
// Of a long depth, which threads would run through one by one, fewer columns are
// worth a tile: the gradient of a picture with three channels.
constexpr int64_t kFewColumns = 2, kLongDepth = 256;
constexpr int64_t kLeastProducts = 1 << 15;
// Of a part of the depth, and how many parts one step adds.
constexpr int64_t kLeastPartDepth = 128, kMostParts = 32;
// What three products of tf32 reach, beside plain multiply-adds of f32. Other
// products reach the same share of what the units can do: 190 TFLOP/s in bf16 on
// an H200, where warpgroups reach 300 to 570.
constexpr double kRate = 0.5;
// What warpgroups reach of what the units can do.
constexpr double kWarpgroupRate = 0.6;
// Sums that a multiprocessor must have in hand to reach that.
constexpr double kFullSums = 4 * 32 * 32;
// Launches whose time adding the parts must save by this estimate.
constexpr double kLaunchesSaved = 5;

bool IsLarge(const ProductExtents& extents) {
  const bool is_long = extents.depth >= kLongDepth;
  return extents.rows >= kLeastRows &&
         extents.columns >= (is_long ? kFewColumns : kLeastColumns) &&
         extents.depth >= kLeastDepth &&
         extents.rows * extents.columns * extents.depth >= kLeastProducts;
}

bool IsByWarpgroups(std::string_view algorithm) {
  return algorithm == kWgmmaBf16Algorithm || algorithm == kWgmmaF16Algorithm;
}

bool Has16Bits(std::string_view algorithm) {
  return algorithm == kMmaBf16Algorithm || algorithm == kMmaF16Algorithm ||
         IsByWarpgroups(algorithm);
}

int DepthOf(std::string_view algorithm) {
  if (IsByWarpgroups(algorithm)) return ProductTile::kWarpgroupDepth;
  return (Has16Bits(algorithm) ? 2 : 1) * ProductTile::kWords;
}

ProductTile TileFor(int64_t rows, int64_t columns, int64_t warp_rows,
                    std::string_view algorithm) {
  return {static_cast<int>(rows), static_cast<int>(columns),
          static_cast<int>(warp_rows), IsByWarpgroups(algorithm),
          DepthOf(algorithm)};
}

// Those that multiply elements of these types or, where there is none, f32, which
// floats of fewer bits become on their way into registers. Those that round are
// the only ones where they may and there are any.
std::vector<ProductUnit> UnitsFor(const ContractionTypes& types,
                                  const Machine& machine, bool tf32) {
  const auto of = [&](DType data, DType weight) {
    std::vector<ProductUnit> units = machine.products;
    std::erase_if(units, [&](const ProductUnit& unit) {
      return !unit.Takes(data, weight, types.sum);
    });
    return units;
  };
  const auto widens = [](DType dtype) {
    return IsFloat(dtype) && SizeOf(dtype) <= SizeOf(DType::kF32);
  };
  std::vector<ProductUnit> units = of(types.data, types.weight);
  if (units.empty() && widens(types.data) && widens(types.weight)) {
    units = of(DType::kF32, DType::kF32);
  }
  const bool rounds = tf32 && std::ranges::any_of(units, &ProductUnit::rounds);
  std::erase_if(units,
                [&](const ProductUnit& unit) { return unit.rounds != rounds; });
  return units;
}

// Of the whole device.
double RateOf(const ProductUnit& unit, const Machine& machine) {
  if (IsByWarpgroups(unit.name)) return kWarpgroupRate * unit.flops_per_second;
  const double of_f32 = kRate * machine.contraction_flops_per_second;
  return of_f32 * unit.flops_per_second /
         UnitOf(machine, kMmaAlgorithm).flops_per_second;
}

// What blocks may compute: rows, columns, rows of a warp. The first one of which
// the product fills more than half is chosen where nothing was measured.
constexpr int kTiles[][3] = {{128, 64, 32}, {128, 64, 64}, {64, 64, 32},
                             {64, 64, 64},  {128, 32, 32}, {64, 32, 32},
                             {32, 64, 32},  {32, 32, 32}};
constexpr int kWarpgroupTiles[][3] = {
    {128, 128, 64}, {128, 64, 64}, {64, 128, 64}, {64, 64, 64}};

std::vector<ProductTile> TilesFor(const ProductExtents& extents,
                                  std::string_view algorithm) {
  const auto fills = [](int64_t extent, int tile) {
    return tile == ProductTile::kLeast || extent > tile / 2;
  };
  std::vector<ProductTile> tiles;
  const std::span<const int[3]> by_warps(kTiles), by_groups(kWarpgroupTiles);
  const auto all = IsByWarpgroups(algorithm) ? by_groups : by_warps;
  for (const auto& [rows, columns, warp_rows] : all) {
    if (!fills(extents.rows, rows) || !fills(extents.columns, columns))
      continue;
    tiles.push_back(TileFor(rows, columns, warp_rows, algorithm));
  }
  return tiles;
}

// A contraction on a device, by one algorithm.
struct Task {
  const Contraction& contraction;
  ProductExtents extents;
  std::string_view algorithm;
  double rate = 0;  // of the whole device
  const GpuMachine& machine;
  ProductLayouts layouts = {};
  const ProductReading& reading;
};

// Warpgroups read what copies of 16 bytes bring: others cost more than is saved.
bool MayUse(const ProductTile& tile, const ProductReading& reading) {
  constexpr int kVector = 8;
  const auto is_wide = [&](int side, int lines) {
    return reading.VectorOf(side, int64_t{lines} * tile.depth,
                            tile.threads()) == kVector;
  };
  return !tile.warpgroups ||
         (is_wide(0, tile.rows) && is_wide(1, tile.columns));
}

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
  const int64_t multiprocessors = task.machine.multiprocessors;
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
      std::min({task.machine.multiprocessors / blocks, kMostParts,
                task.extents.depth / kLeastPartDepth});
  for (int64_t parts = most; parts > 1; --parts) {
    if (task.contraction.in % parts != 0) continue;
    // The parts have the kernel that is chosen for the whole.
    const Contraction in_parts = InParts(task.contraction, parts);
    if (!IsLarge(ExtentsOf(in_parts))) continue;
    if (task.layouts.any() && !ChannelsLast(in_parts).any()) {
      continue;
    }
    if (!MayUse(tile, ProductReading(in_parts, task.layouts))) continue;
    const double saved =
        BusiestSeconds(task, tile, 1) - BusiestSeconds(task, tile, parts);
    return saved > kLaunchesSaved * task.machine.launch_seconds ? parts : 1;
  }
  return 1;
}

KernelCandidate CandidateOf(const Task& task, const ProductTile& tile,
                            int64_t parts) {
  KernelCandidate candidate;
  candidate.choice =
      MakeProductChoice(task.algorithm, {tile, task.layouts.any()});
  AskFor(task.layouts, task.contraction, task.machine, candidate);
  candidate.parts = parts > 1 ? parts : 0;
  candidate.cost =
      static_cast<double>(task.extents.Blocks(tile) * task.extents.depth) *
      std::max(2.0 * tile.rows * tile.columns / task.rate,
               CopySeconds(task, tile));
  return candidate;
}

struct Offer {
  ProductTile tile;
  int64_t parts = 1;
  double seconds = 0;  // of the busiest multiprocessor, by estimate
};

// The first one is the choice where nothing is measured: warps have the first
// tile, warpgroups, whose tiles are few for a device, the one that takes least.
std::vector<Offer> OffersOf(const Task& task) {
  std::vector<Offer> offers;
  const auto add = [&](const ProductTile& tile, int64_t parts) {
    offers.push_back({tile, parts,
                      BusiestSeconds(task, tile, parts) +
                          (parts > 1 ? task.machine.launch_seconds : 0)});
  };
  for (const ProductTile& tile : TilesFor(task.extents, task.algorithm)) {
    if (!MayUse(tile, task.reading)) continue;
    const int64_t parts = PartsOf(task, tile);
    add(tile, parts);
    if (parts > 1) add(tile, 1);
  }
  if (IsByWarpgroups(task.algorithm)) {
    std::ranges::stable_sort(offers, {}, &Offer::seconds);
  }
  return offers;
}

struct Candidates {
  std::vector<KernelCandidate> all;
  double seconds = 0;  // of the first one
};

// What else than the choice may be the fastest follows, as the busiest
// multiprocessor says, and before it a library, of which nothing is known.
Candidates CandidatesOf(const Task& task) {
  const std::vector<Offer> offers = OffersOf(task);
  if (offers.empty()) return {};
  const double least = offers[0].seconds;
  std::vector<KernelCandidate> all;
  for (const Offer& offer : offers) {
    all.push_back(CandidateOf(task, offer.tile, offer.parts));
    all.back().cost = all[0].cost * std::max(1.0, offer.seconds / least);
  }
  if (!IsByWarpgroups(task.algorithm) && MayBeOfLibrary(task.contraction)) {
    all.insert(all.begin() + 1, all[0]);
    all[1].choice = ProductWithLibrary(all[0].choice);
    all[1].library = true;
    all[1].parts = 0;
    all[1].scratch_bytes = LibraryWorkspace(task.contraction);
  }
  std::ranges::stable_sort(std::span(all).subspan(1), {},
                           &KernelCandidate::cost);
  return {std::move(all), least};
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
  return ProductOf(choice).tile;
}

KernelChoice MakeProductChoice(std::string_view algorithm,
                               const ProductChoice& product) {
  const ProductTile& tile = product.tile;
  return {std::string(algorithm),
          {tile.rows, tile.columns, tile.warp_rows, product.channels_last,
           product.library}};
}

ProductChoice ProductOf(const KernelChoice& choice) {
  const std::vector<int64_t>& numbers = choice.numbers;
  MXC_CHECK(numbers.size() == 5, "{} numbers of '{}'", numbers.size(),
            choice.algorithm);
  return {TileFor(numbers[0], numbers[1], numbers[2], choice.algorithm),
          numbers[3] != 0, numbers[4] != 0};
}

bool IsOfLibrary(const KernelChoice& choice) {
  return !choice.algorithm.empty() && ProductOf(choice).library;
}

KernelChoice ProductWithLibrary(const KernelChoice& kernel) {
  ProductChoice product = ProductOf(kernel);
  product.library = true;
  return MakeProductChoice(kernel.algorithm, product);
}

std::string DescribeProduct(const KernelChoice& choice) {
  constexpr int kPlainWarp = 32;
  const ProductChoice product = ProductOf(choice);
  const ProductTile& tile = product.tile;
  std::string text =
      fmt::format("{} {}x{}", choice.algorithm, tile.rows, tile.columns);
  if (tile.warp_rows != kPlainWarp) {
    text += fmt::format(" by {} rows", tile.warp_rows);
  }
  if (product.channels_last) text += ", channels last";
  return product.library ? text + " or library" : text;
}

bool IsProductAlgorithm(std::string_view algorithm) {
  return Has16Bits(algorithm) || algorithm == kMmaAlgorithm ||
         algorithm == kMmaTf32Algorithm;
}

std::vector<KernelCandidate> ProductCandidates(const Contraction& c,
                                               const GpuMachine& machine,
                                               bool tf32) {
  // Numbers of rows and of the depth, beyond a tile, too, have 31 bits.
  constexpr int64_t kMostBlocks = int64_t{1} << 31, kMost = kMostBlocks / 2;
  const ProductExtents extents = ExtentsOf(c);
  const std::vector<ProductUnit> units = UnitsFor(c.types, machine, tf32);
  if (units.empty()) return {};
  const bool countable =
      extents.rows < kMost && extents.columns < kMost &&
      extents.depth < kMost &&
      extents.Blocks(ProductTile{ProductTile::kLeast, ProductTile::kLeast}) <
          kMostBlocks;
  if (!countable || !IsLarge(extents)) return {};
  std::vector<KernelCandidate> candidates;
  double seconds = 0;  // of the first one
  const auto add = [&](const ProductLayouts& layouts, const ProductUnit& by) {
    const ProductReading reading(c, layouts);
    const Candidates more = CandidatesOf(
        {c, extents, by.name, RateOf(by, machine), machine, layouts, reading});
    if (more.all.empty()) return;
    // Among layouts of one tile, what the whole device takes; of other tiles, how
    // many blocks there are counts.
    const auto is_better = [&] {
      if (candidates.empty()) return true;
      const KernelCandidate &one = more.all[0], &other = candidates[0];
      return IsByWarpgroups(by.name) ? more.seconds + one.packing_cost <
                                           seconds + other.packing_cost
                                     : one.cost + one.packing_cost <
                                           other.cost + other.packing_cost;
    };
    const bool first = is_better();
    if (first) seconds = more.seconds;
    candidates.insert(first ? candidates.begin() : candidates.end(),
                      more.all.begin(), more.all.end());
  };
  const ProductLayouts last = ChannelsLast(c);
  for (const ProductUnit& unit : units) {
    add({}, unit);
    if (last.any()) add(last, unit);
  }
  return candidates;
}

const ProductUnit& UnitOf(const Machine& machine, std::string_view algorithm) {
  const auto unit =
      std::ranges::find(machine.products, algorithm, &ProductUnit::name);
  MXC_CHECK(unit != machine.products.end(), "no unit '{}'", algorithm);
  return *unit;
}

}  // namespace mxc
