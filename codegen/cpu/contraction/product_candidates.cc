// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/product_candidates.h"

#include <algorithm>

#include "codegen/cpu/contraction/digit_planes.h"
#include "codegen/cpu/contraction/dot_unit.h"

namespace mxc::contraction {
namespace {

// A product of one row reads several panels side by side: as many vectors as are
// loaded until one sum is ready, where that leaves work for two threads.
constexpr int kGemvVectors = 4, kWideGemvVectors = 8;
// Beside those, the element of data is a load of its own in each step, unless it is
// multiplied by from memory or out of a register of several.
constexpr int kVectorsOfElement = 12;

int WideGemvVectors(const CpuMachine& machine) {
  const bool loads_element = machine.vector_registers >= 32 &&
                             !machine.multiplies_by_memory &&
                             !machine.multiplies_by_element;
  const int wide =
      std::max(loads_element ? kVectorsOfElement : kWideGemvVectors,
               machine.multiply_add_latency * machine.loads);
  if (!machine.loads_first) return wide;
  // A vector of weights waits for each of sums, the data's, and one product.
  return std::min(wide, (machine.vector_registers - 2) / 2);
}

// Vectors of a panel: as many for any number of rows, so that programs for
// different batches read the same bytes. Matrix units read two as well.
int PanelVectors(int64_t vectors) {
  return vectors == 3 ? 3 : static_cast<int>(std::min<int64_t>(vectors, 2));
}

}  // namespace

RegisterTile ProductCandidates::GemmTile(const Contraction& c,
                                         int panel_vectors) const {
  const int64_t vectors = DivideUp(c.out, lanes_);
  const RegisterTile tile =
      ChooseRowTile(machine_, c.batch, vectors, panel_vectors);
  // Rows that far apart fall into one set of the first cache.
  const int ways = machine_.l1_ways;
  const bool one_set = SizeOf(types_.data) * c.in % machine_.l1_way_bytes == 0;
  if (!one_set || tile.pixels <= ways) return tile;
  return vectors >= 4 ? RegisterTile{6, 4} : RegisterTile{ways, tile.vectors};
}

void ProductCandidates::AddGemmByRows(const Contraction& c,
                                      std::vector<KernelCandidate>& out) const {
  if (c.weight_axes[0] == Role::kIn) return AddGemmOfColumns(c, out);
  const int64_t vectors = DivideUp(c.out, lanes_);
  const RegisterTile tile = GemmTile(c, /*panel_vectors=*/1);
  KernelCandidate candidate;
  candidate.choice = MakeChoice(kGemm, {lanes_, tile});
  candidate.weight_block = candidate.output_block = lanes_;
  candidate.weight_axis = candidate.output_axis = 0;
  candidate.packing_cost =
      static_cast<double>(c.in * c.out) * machine_.pack_seconds;
  candidate.cost =
      BroadcastCost(c, RowTileEfficiency(machine_, tile, c.batch, vectors) *
                           static_cast<double>(c.out) /
                           static_cast<double>(vectors * lanes_));
  out.push_back(std::move(candidate));
}

// The weight as it is, whose columns are the lanes, and data whose rows lie side
// by side turned: those of a gradient that is summed over the rows of both.
void ProductCandidates::AddGemmOfColumns(
    const Contraction& c, std::vector<KernelCandidate>& out) const {
  if (c.out % lanes_ != 0 || c.batch == 1) return;
  const int64_t vectors = c.out / lanes_;
  const RegisterTile tile = GemmTile(c, /*panel_vectors=*/1);
  KernelCandidate candidate;
  candidate.choice = MakeChoice(kGemmRows, {lanes_, tile});
  candidate.weight_block = 1;
  candidate.output_block = lanes_;
  candidate.data_axis = candidate.output_axis = 0;
  candidate.data_block = kWholeAxis;
  candidate.cost =
      BroadcastCost(c, RowTileEfficiency(machine_, tile, c.batch, vectors)) *
          RowsCost(c) +
      static_cast<double>(c.in * c.batch) * machine_.pack_seconds;
  out.push_back(std::move(candidate));
}

// Rows that a way of the first cache divides lie in few sets of any cache.
double ProductCandidates::RowsCost(const Contraction& c) const {
  const int64_t row = SizeOf(types_.weight) * c.out;
  return row % machine_.l1_way_bytes == 0 ? rates().aliased_rows : rates().rows;
}

// Rows of the weight as they are: of whole vectors, far apart.
void ProductCandidates::AddGemmOfRows(const Contraction& c,
                                      const KernelCandidate& packed,
                                      std::vector<KernelCandidate>& out) const {
  if (c.weight_axes != std::vector<Role>{Role::kIn, Role::kOut}) return;
  if (c.out % lanes_ != 0 || c.batch == 1) return;
  KernelCandidate candidate = packed;
  candidate.choice.algorithm = kGemmRows;
  candidate.weight_block = 1;
  candidate.packing_cost = 0;
  candidate.cost *= RowsCost(c);
  out.push_back(std::move(candidate));
}

// A vector of weights takes about half as many instructions.
void ProductCandidates::AddGemmOfDigits(
    const Contraction& c, const KernelCandidate& packed,
    std::vector<KernelCandidate>& out) const {
  constexpr double kOfFloats = 0.6;
  if (!TakesDigitPlanes(machine_, c)) return;
  KernelCandidate candidate = packed;
  candidate.choice.algorithm = kGemmDigits;
  candidate.scratch_bytes = DigitPlaneScratch(c);
  candidate.cost *= kOfFloats;
  out.push_back(std::move(candidate));
}

// Data whose rows lie side by side, each of them apart from element to
// element: in another order where that takes less than to read them so.
void ProductCandidates::TurnData(const Contraction& c,
                                 KernelCandidate& candidate) const {
  const int64_t apart = SizeOf(types_.data) * c.batch;
  const bool turned = c.groups == 1 && c.data_axes.size() == 2 &&
                      c.data_axes[1] == Role::kBatch &&
                      apart >= machine_.page_bytes / 2;
  if (!turned) return;
  const double lost =
      candidate.cost *
      ((apart < machine_.page_bytes ? rates().near_data : rates().far_data) -
       1);
  const double turn =
      static_cast<double>(c.in * c.batch) * machine_.pack_seconds;
  if (turn < lost) {
    candidate.data_axis = 0;
    candidate.data_block = kWholeAxis;
  }
  candidate.cost += std::min(turn, lost);
}

void ProductCandidates::AddGemm(const Contraction& c,
                                std::vector<KernelCandidate>& out) const {
  const int64_t vectors = DivideUp(c.out, lanes_);
  const int panel_vectors = PanelVectors(vectors);
  RegisterTile tile = GemmTile(c, panel_vectors);
  if (c.batch == 1) {
    const int wide = WideGemvVectors(machine_);
    const auto most = static_cast<int>(
        std::min<int64_t>(vectors, vectors >= 2 * wide ? wide : kGemvVectors));
    tile = {1, most / panel_vectors * panel_vectors};
  }
  KernelCandidate candidate = Make(c, kGemm, 1, 1, tile, panel_vectors);
  candidate.cost =
      BroadcastCost(c, RowTileEfficiency(machine_, tile, c.batch, vectors));
  candidate.packing_cost =
      static_cast<double>(c.groups * c.in * c.out) * machine_.pack_seconds;
  TurnData(c, candidate);
  AddGemmOfRows(c, candidate, out);
  AddGemmOfDigits(c, candidate, out);
  out.push_back(std::move(candidate));
  AddDots(c, tile, panel_vectors, out);
}

// Units that multiply a few neighbouring elements of a row.
void ProductCandidates::AddDots(const Contraction& c, RegisterTile gemm,
                                int panel_vectors,
                                std::vector<KernelCandidate>& out) const {
  if (c.data_axes.back() != Role::kIn) return;
  for (const ProductUnit& unit : Units()) {
    if (!IsDotUnit(unit, lanes_) || c.in % unit.k != 0) continue;
    const RegisterTile tile = DotTile(machine_, unit, gemm);
    KernelCandidate candidate =
        Make(c, DotAlgorithm(unit.k), 1, 1, tile, panel_vectors);
    candidate.cost = Cost(
        c, unit.flops_per_second,
        TileEfficiency(machine_, tile, 1, c.batch, DivideUp(c.out, lanes_)) *
            DotEfficiency(unit, tile));
    candidate.packing_cost = static_cast<double>(c.groups) * PackingCost(c);
    out.push_back(std::move(candidate));
  }
}

}  // namespace mxc::contraction
