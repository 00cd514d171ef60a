// SPDX-License-Identifier: Apache-2.0
// KernelCatalog: which algorithms fit a contraction, and what they cost.
#include "codegen/cpu/contraction/catalog.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/candidate_costs.h"
#include "codegen/cpu/contraction/dot_unit.h"
#include "codegen/cpu/contraction/nest.h"
#include "codegen/cpu/contraction/operand.h"
#include "codegen/cpu/contraction/pixel_sums.h"
#include "codegen/cpu/contraction/product_candidates.h"
#include "codegen/cpu/contraction/strassen_shape.h"
#include "codegen/cpu/contraction/structure.h"
#include "codegen/cpu/contraction/taps.h"
#include "codegen/cpu/contraction/tile_unit.h"
#include "codegen/cpu/contraction/tiling.h"
#include "codegen/cpu/contraction/winograd_shape.h"
#include "codegen/cpu/contraction/winograd_sums_shape.h"
#include "codegen/cpu/kernel_options.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

using contraction::CandidateCosts;
using contraction::ChooseTile;
using contraction::HaloHigh;
using contraction::HaloLow;
using contraction::Product;
using contraction::RegisterTile;
using contraction::TileEfficiency;

// Winograd's products are small.
constexpr int64_t kLeastWinogradChannels = 16, kLeastWinogradInputs = 8;
// How far rounding takes Winograd's algorithm from its sums, of their deviation,
// where data are independent: for each axis that is transformed, by the windows'
// basis. Measured against f64.
constexpr double kRoundoff = 0x1p-24;
double Amplification(int64_t window) {
  switch (BasisOfWindow(window)) {
    case KernelBasis::kWinograd8:
      return 6.2;
    case KernelBasis::kWinograd6:
      return 3.1;
    case KernelBasis::kWinograd4:
      return 1.9;
    default:
      return 1;
  }
}
// Of 8 products of quarters, Strassen's algorithm computes 7.
constexpr double kQuartersSaved = 8.0 / 7;

// For contractions of the given types.
class TypedCatalog : private CandidateCosts {
 public:
  TypedCatalog(const Target& target, const KernelOptions& options,
               const ContractionTypes& types)
      : CandidateCosts(target, types),
        options_(options),
        products_(target, types) {}

  std::vector<KernelCandidate> Candidates(const Contraction& c) const {
    std::vector<KernelCandidate> candidates;
    if (contraction::IsConvolution(c)) {
      AddPerChannel(c, candidates);
      for (const std::string_view algorithm :
           {contraction::kWinograd6, contraction::kWinograd5,
            contraction::kWinograd4, contraction::kWinograd3,
            contraction::kWinograd2}) {
        AddWinograd(c, algorithm, candidates);
      }
      AddStrassen(c, candidates);
      AddTiles(c, candidates);
      AddDirect(c, /*data_block=*/lanes_, candidates);
      AddDirect(c, /*data_block=*/1, candidates);
    } else if (contraction::IsPixelSums(c)) {
      AddPixelSums(c, candidates);
      for (const std::string_view algorithm :
           {contraction::kWinogradSums6, contraction::kWinogradSums4,
            contraction::kWinogradSums2}) {
        AddWinogradSums(c, algorithm, candidates);
      }
    } else if (contraction::IsProduct(c)) {
      AddTiles(c, candidates);
      products_.AddGemm(c, candidates);
    } else if (contraction::IsProductByRows(c)) {
      products_.AddGemmByRows(c, candidates);
    }
    std::ranges::stable_sort(candidates, {}, &KernelCandidate::cost);
    return candidates;
  }

 private:
  void AddDirect(const Contraction& c, int64_t data_block,
                 std::vector<KernelCandidate>& out) const {
    const bool grouped = c.groups > 1;
    if (grouped && (c.in % lanes_ != 0 || c.out % lanes_ != 0)) return;
    if (grouped && data_block == 1) return;
    const auto [rows, columns] = Pixels(c);
    const int64_t vectors = DivideUp(c.out, lanes_);
    RegisterTile tile = ChooseTile(machine_, rows, columns, vectors);
    // Panels must not straddle groups.
    while (grouped && vectors % tile.vectors != 0) {
      tile.vectors -= 1;
      tile.pixels = contraction::MaxPixels(machine_, tile.vectors);
    }
    KernelCandidate candidate =
        Make(c, contraction::kDirect, data_block, lanes_, tile, tile.vectors);
    double efficiency = TileEfficiency(machine_, tile, rows, columns, vectors) *
                        Fill(c.out, vectors);
    // Row-major data come in short, strided pieces, except for few channels.
    if (data_block > 1) {
      AddDots(c, tile, out);
    } else {
      efficiency *= c.in < lanes_ / 2 ? rates().few_inputs : rates().row_major;
      AddColumnPairs(c, tile, efficiency, out);
    }
    candidate.cost =
        BroadcastCost(c, efficiency) + PaddingCost(c, c.in, data_block);
    out.push_back(std::move(candidate));
  }

  // The same by the units that multiply a few channels of such elements.
  void AddDots(const Contraction& c, RegisterTile direct,
               std::vector<KernelCandidate>& out) const {
    if (c.groups > 1) return;
    const auto [rows, columns] = Pixels(c);
    const int64_t vectors = DivideUp(c.out, lanes_);
    for (const ProductUnit& unit : Units()) {
      if (!contraction::IsDotUnit(unit, lanes_)) continue;
      Contraction filled = c;
      filled.in = RoundUp(c.in, unit.k);
      const RegisterTile tile = contraction::DotTile(machine_, unit, direct);
      const double efficiency =
          TileEfficiency(machine_, tile, rows, columns, vectors) *
          contraction::DotEfficiency(unit, tile) * Fill(c.out, vectors);
      std::vector<int64_t> blocks = {lanes_};
      // A few channels have a block of their own.
      const auto few =
          static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(filled.in)));
      if (few < lanes_) blocks.push_back(few);
      for (const int64_t block : blocks) {
        KernelCandidate candidate = Make(c, contraction::DotAlgorithm(unit.k),
                                         block, lanes_, tile, tile.vectors);
        candidate.cost =
            CostBesideWeights(filled, unit.flops_per_second, efficiency) +
            PaddingCost(c, c.in, block);
        candidate.packing_cost = PackingCost(c);
        out.push_back(std::move(candidate));
      }
    }
  }

  // By units of pairs: of an odd number of columns the last has one to itself.
  void AddColumnPairs(const Contraction& c, RegisterTile tile,
                      double efficiency,
                      std::vector<KernelCandidate>& out) const {
    const auto is_one = [](int64_t i) { return i == 1; };
    const bool side_by_side =
        c.groups == 1 && c.in < lanes_ / 2 && c.dilate.back() == 1 && !c.flip &&
        std::ranges::all_of(c.data_dilate, is_one) &&
        c.data_axes.back() == contraction::SpatialRole(c.kernel.size() - 1);
    const int64_t columns = c.kernel.back();
    if (!side_by_side || columns < 2 || columns > contraction::kMaxUnroll) {
      return;
    }
    for (const ProductUnit& unit : Units()) {
      if (!contraction::IsDotUnit(unit, lanes_) || unit.k != 2) continue;
      Contraction filled = c;
      filled.kernel.back() = DivideUp(columns, 2) * 2;
      KernelCandidate candidate =
          Make(c, contraction::kColumnPairs, 1, lanes_, tile, tile.vectors);
      candidate.cost = Cost(filled, unit.flops_per_second, efficiency);
      candidate.packing_cost = PackingCost(c);
      out.push_back(std::move(candidate));
    }
  }

  // A matrix unit takes whole rows of channels, and data that have all
  // channels of a position side by side.
  void AddTiles(const Contraction& c, std::vector<KernelCandidate>& out) const {
    if (contraction::PhasesOf(c).size() != 1) return;
    for (const ProductUnit& unit : Units()) {
      if (contraction::IsTileUnit(unit)) AddTiles(c, unit, out);
    }
  }

  void AddTiles(const Contraction& c, const ProductUnit& unit,
                std::vector<KernelCandidate>& out) const {
    if (c.in % unit.k != 0) return;
    const bool product = c.kernel.empty();
    if (product ? c.batch < unit.m / 2 || c.data_axes.back() != Role::kIn
                : c.groups > 1 || c.out % lanes_ != 0) {
      return;
    }
    const auto [rows, columns] = Pixels(c);
    const int vectors =
        static_cast<int>(std::min<int64_t>(2, DivideUp(c.out, lanes_)));
    const int pixels = 2 * unit.m;
    KernelCandidate candidate =
        Make(c, contraction::kTiles, product ? 1 : c.in, product ? 1 : c.out,
             {pixels, vectors}, vectors);
    const int64_t tiles = contraction::CountTiles(
        contraction::SplitForTiles(rows, columns), rows);
    const double filled =
        static_cast<double>(rows * columns) /
        static_cast<double>(tiles * pixels) *
        Fill(c.out, DivideUp(c.out, vectors * lanes_) * vectors);
    candidate.cost =
        static_cast<double>(c.flops()) / (unit.flops_per_second * filled) +
        Bytes(c) / machine_.stream_bytes_per_second;
    candidate.packing_cost = PackingCost(c);
    out.push_back(std::move(candidate));
  }

  // Odd tiles count as the next smaller ones: their windows are as large as
  // those for 5x5 kernels.
  bool OffersTile(int64_t tile, int64_t window) const {
    return tile / 2 * 2 <= options_.winograd_tile &&
           BasisOfWindow(window) != KernelBasis::kPlain;
  }

  // Of kernels that read whole windows everywhere.
  static Extents WholeHaloLow(const Contraction& c) {
    Extents halo;
    for (const int64_t pad : c.pad) halo.push_back(std::max<int64_t>(0, pad));
    return halo;
  }

  // Of the products in Winograd's domain: two vectors of channels, if there
  // are.
  RegisterTile WinogradProducts(const Contraction& c) const {
    const int vectors =
        static_cast<int>(std::min<int64_t>(2, DivideUp(c.out, lanes_)));
    return {contraction::MaxPixels(machine_, vectors), vectors};
  }

  void AddWinograd(const Contraction& c, std::string_view algorithm,
                   std::vector<KernelCandidate>& out) const {
    if (!Transforms() || !contraction::WinogradFits(c)) return;
    const Extents window = contraction::WinogradWindows(c, algorithm);
    if (!OffersTile(contraction::WinogradTile(algorithm),
                    std::max(window[0], window[1]))) {
      return;
    }
    if (c.in < kLeastWinogradInputs || c.out < kLeastWinogradChannels) return;
    const RegisterTile tile = WinogradProducts(c);
    KernelCandidate candidate =
        Make(c, algorithm, lanes_, lanes_, tile, tile.vectors);
    candidate.halo_low = WholeHaloLow(c);
    candidate.halo_high = contraction::WinogradHaloHigh(c);
    const auto grid =
        contraction::MakeWinogradGrid(machine_, c, candidate.choice);
    candidate.scratch_bytes = grid.scratch_bytes;
    candidate.cost = grid.seconds;
    candidate.flipped_weight = c.flip;
    candidate.tile = contraction::WinogradTiles(c, algorithm);
    candidate.rounding = std::pow(
        kRoundoff * Amplification(window[0]) * Amplification(window[1]), 2);
    candidate.packing_cost =
        static_cast<double>(Product(window) * c.in * c.out) *
        machine_.pack_seconds;
    out.push_back(std::move(candidate));
  }

  // Weights that are no constants would have to be summed in every run.
  void AddStrassen(const Contraction& c,
                   std::vector<KernelCandidate>& out) const {
    if (!Transforms() || !options_.strassen ||
        !contraction::StrassenFits(c, lanes_))
      return;
    const RegisterTile tile = contraction::StrassenTile(machine_, c, lanes_);
    KernelCandidate candidate =
        Make(c, contraction::kStrassen, lanes_, lanes_, tile, tile.vectors);
    const auto grid =
        contraction::MakeStrassenGrid(machine_, c, candidate.choice);
    candidate.scratch_bytes = grid.scratch_bytes;
    const double products = TileEfficiency(machine_, tile, 1, grid.block_pairs,
                                           c.out / 2 / lanes_) *
                            kQuartersSaved;
    candidate.cost = machine_.strassen_margin *
                     (Cost(c, products) +
                      contraction::StrassenSumSeconds(machine_, c, lanes_));
    candidate.packing_cost = std::numeric_limits<double>::infinity();
    out.push_back(std::move(candidate));
  }

  // Groups of at most a vector's channels, as many out as in.
  void AddPerChannel(const Contraction& c,
                     std::vector<KernelCandidate>& out) const {
    if (c.groups == 1 || c.in != c.out || c.in >= lanes_) return;
    if (lanes_ % c.in != 0) return;
    const bool depthwise = c.in == 1;
    // Exchanged channels of small groups cannot be packed by a layout.
    const bool exchanged =
        std::ranges::count(c.weight_axes, Role::kGroupIn) > 0;
    if (!depthwise && exchanged) return;
    const RegisterTile tile = {machine_.per_channel_pixels, 1};
    KernelCandidate candidate =
        Make(c, depthwise ? contraction::kDepthwise : contraction::kGrouped,
             lanes_, lanes_, tile, 1);
    candidate.cost = Cost(c, depthwise ? rates().depthwise : rates().grouped);
    out.push_back(std::move(candidate));
    if (depthwise) AddTaps(c, tile, out);
  }

  // By units that take a few of the kernel's columns. What fills up the last of
  // them has weights of zero, and lies in the border.
  void AddTaps(const Contraction& c, RegisterTile tile,
               std::vector<KernelCandidate>& out) const {
    const int64_t columns = c.kernel.back();
    const bool side_by_side =
        columns > 1 && c.dilate.back() == 1 && !c.flip &&
        std::ranges::all_of(c.data_dilate, [](int64_t d) { return d == 1; });
    if (!side_by_side || IsFloat(types_.sum)) return;
    for (const ProductUnit& unit : Units()) {
      const std::string_view algorithm = contraction::TapAlgorithm(unit.k);
      if (!contraction::IsDotUnit(unit, lanes_) || algorithm.empty()) continue;
      Contraction filled = c;
      filled.kernel.back() = DivideUp(columns, unit.k) * unit.k;
      KernelCandidate candidate =
          Make(c, algorithm, lanes_, lanes_, DotTile(machine_, unit, tile), 1);
      candidate.halo_high = HaloHigh(filled);
      candidate.cost = Cost(filled, unit.flops_per_second, rates().depthwise);
      out.push_back(std::move(candidate));
    }
  }

  // Lanes are the weight's channels; data's are the rows of a tile, or the
  // kernel's positions where data are row-major.
  void AddPixelSums(const Contraction& c,
                    std::vector<KernelCandidate>& out) const {
    // Its sums wait in the output, or in that of a step for the parts.
    const bool whole = c.data_axes[0] != Role::kIn;
    if (whole && types_.output != types_.sum) return;
    const bool by_lane = contraction::IsPixelSumsByLane(c, lanes_);
    const bool grouped = c.groups > 1 && c.data_axes[0] == Role::kIn;
    if (grouped && !by_lane && (c.batch % lanes_ != 0 || c.out % lanes_ != 0)) {
      return;
    }
    AddPixelSums(c, lanes_, by_lane, out);
    if (!grouped) AddPixelSums(c, 1, by_lane, out);
  }

  void AddPixelSums(const Contraction& c, int64_t data_block, bool by_lane,
                    std::vector<KernelCandidate>& out) const {
    const int64_t vectors =
        DivideUp(by_lane ? c.groups * c.out : c.out, lanes_);
    const int64_t last = c.output.back();
    const int64_t before =
        c.output.size() > 1 ? c.output[c.output.size() - 2] : 1;
    const int64_t columns =
        data_block > 1 && !by_lane ? std::min<int64_t>(c.batch, lanes_) : last;
    const int64_t rows = data_block > 1 && !by_lane ? last : before;
    const RegisterTile tile =
        by_lane ? RegisterTile{machine_.by_lane_pixels, 1}
                : ChooseTile(machine_, rows, columns, vectors);
    KernelCandidate candidate;
    candidate.choice =
        contraction::MakeChoice(contraction::kPixelSums, {lanes_, tile});
    candidate.data_block = data_block;
    candidate.weight_block = candidate.output_block = lanes_;
    candidate.output_axis = OutputChannels(c);
    candidate.halo_low = HaloLow(c);
    candidate.halo_high = HaloHigh(c);
    if (c.data_axes[0] == Role::kIn) {
      candidate.parts = contraction::ChooseParts(
          machine_, c, data_block, tile.vectors * int64_t{lanes_});
    }
    double efficiency =
        by_lane ? rates().by_lane
                : TileEfficiency(machine_, tile, rows, columns, vectors) *
                      Fill(c.out, vectors);
    if (data_block == 1 && c.batch >= lanes_ / 2) {
      efficiency *= rates().row_major;
    }
    candidate.cost =
        BroadcastCost(c, efficiency) + PaddingCost(c, c.batch, data_block);
    out.push_back(std::move(candidate));
  }

  static int OutputChannels(const Contraction& c) {
    const auto out = [](Role role) {
      return role == Role::kOut || role == Role::kGroupOut;
    };
    return static_cast<int>(std::ranges::find_if(c.output_axes, out) -
                            c.output_axes.begin());
  }

  void AddWinogradSums(const Contraction& c, std::string_view algorithm,
                       std::vector<KernelCandidate>& out) const {
    if (!IsOneFloat() || !contraction::WinogradSumsFit(c)) return;
    const int64_t m = contraction::WinogradSumsTile(algorithm);
    if (!OffersTile(m, m + c.output[0] - 1)) return;
    if (std::min(c.batch, c.out) < kLeastWinogradChannels) return;
    const RegisterTile tile = WinogradProducts(c);
    KernelCandidate candidate;
    candidate.choice = contraction::MakeChoice(algorithm, {lanes_, tile});
    candidate.data_block = candidate.weight_block = candidate.output_block =
        lanes_;
    candidate.output_axis = OutputChannels(c);
    candidate.halo_low = WholeHaloLow(c);
    candidate.halo_high = contraction::WinogradSumsHaloHigh(c, algorithm);
    const auto grid =
        contraction::MakeWinogradSumsGrid(machine_, c, candidate.choice);
    candidate.scratch_bytes = grid.scratch_bytes;
    candidate.cost = grid.seconds;
    if (c.data_axes[0] == Role::kIn) CutWinogradSums(c, candidate);
    out.push_back(std::move(candidate));
  }

  // In as many parts of the images as is fastest, with what it takes to add
  // them.
  void CutWinogradSums(const Contraction& c, KernelCandidate& candidate) const {
    candidate.parts = 1;
    const int64_t bytes =
        SizeOf(types_.sum) * c.batch * c.out * Product(c.output);
    const int64_t most = std::min<int64_t>(c.in, machine_.tasks);
    for (int64_t parts = 2; parts <= most; ++parts) {
      if (c.in % parts != 0 || parts * bytes > 2 * machine_.waiting_sum_bytes) {
        continue;
      }
      const auto grid = contraction::MakeWinogradSumsGrid(
          machine_, InParts(c, parts), candidate.choice);
      const double seconds =
          grid.seconds + 2 * static_cast<double>(parts * bytes) /
                             machine_.stream_bytes_per_second;
      if (seconds >= candidate.cost) continue;
      candidate.cost = seconds;
      candidate.parts = parts;
      // Enough for either contraction, in parts or whole.
      candidate.scratch_bytes =
          std::max(candidate.scratch_bytes, grid.scratch_bytes);
    }
  }

  // Rows and columns of pixels, as far as they are known without layouts.
  static std::pair<int64_t, int64_t> Pixels(const Contraction& c) {
    Extents output;
    for (size_t i = 0; i < c.output.size(); ++i) {
      const int64_t extent = DivideUp(c.output[i], c.data_dilate[i]);
      if (extent > 1) output.push_back(extent);
    }
    if (output.empty()) return {1, c.batch};
    if (output.size() == 1) return {1, output[0]};
    const int64_t columns = output.back();
    const int64_t rows = output[output.size() - 2];
    if (Product(c.kernel) * Product(c.stride) * Product(c.data_dilate) == 1) {
      return {1, rows * columns};
    }
    return {rows, columns};
  }

  const KernelOptions& options_;
  const contraction::ProductCandidates products_;
};

}  // namespace

ContractionCatalog::ContractionCatalog(const Target& target,
                                       const CatalogOptions& options)
    : KernelCatalog(target.machine),
      target_(target),
      options_(KernelOptionsOf(options)),
      rounding_budget_(options.rounding_budget * options.rounding_budget) {}

std::vector<KernelCandidate> ContractionCatalog::Candidates(
    const Contraction& c) const {
  return TypedCatalog(target_, options_, c.types).Candidates(c);
}

std::string ContractionCatalog::Describe(const KernelChoice& choice) const {
  return contraction::Describe(choice);
}

std::string ContractionCatalog::NameOf(const KernelCandidate& kernel) const {
  return contraction::NameOf(kernel);
}

}  // namespace mxc
