// SPDX-License-Identifier: Apache-2.0
// What the catalog's candidates have in common: how they begin, and the parts
// that their costs are made of, in seconds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "codegen/cpu/contraction/tiling.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/kernel_catalog.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/division.h"
#include "ir/target/target.h"

namespace mxc::contraction {

inline int64_t Product(const Extents& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

// For contractions of the given types.
class CandidateCosts {
 protected:
  CandidateCosts(const Target& target, const ContractionTypes& types)
      : machine_(CpuMachineOf(target)),
        types_(types),
        lanes_(machine_.lanes(types.sum)) {}

  // What Winograd's and Strassen's algorithms add before and after products
  // needs a fraction. They add data and outputs in registers, which hold
  // narrow floats in the type of the sums; transformed weights stay in memory.
  bool Transforms() const {
    return IsFloat(types_.sum) && types_.weight == types_.sum &&
           AccumulateType(types_.data) == types_.sum &&
           AccumulateType(types_.output) == types_.sum;
  }
  // Those of gradients add both operands as they are.
  bool IsOneFloat() const {
    return IsFloat(types_.sum) && types_ == ContractionTypes::All(types_.sum);
  }

  KernelCandidate Make(const Contraction& c, std::string_view algorithm,
                       int64_t data_block, int64_t output_block,
                       RegisterTile tile, int panel_vectors) const {
    KernelCandidate candidate;
    candidate.choice = MakeChoice(algorithm, {lanes_, tile});
    candidate.data_block = data_block;
    candidate.output_block = output_block;
    candidate.halo_low = HaloLow(c);
    candidate.halo_high = HaloHigh(c);
    candidate.weight =
        WeightLayout(c, algorithm, data_block, lanes_, panel_vectors);
    return candidate;
  }

  const KernelRates& rates() const { return machine_.rates; }

  // The part of so many vectors that channels fill.
  double Fill(int64_t channels, int64_t vectors) const {
    return static_cast<double>(channels) /
           static_cast<double>(vectors * lanes_);
  }

  double Cost(const Contraction& c, double efficiency) const {
    return Cost(c, machine_.flops_per_second(types_.sum), efficiency);
  }
  double Cost(const Contraction& c, double peak, double efficiency) const {
    return static_cast<double>(c.flops()) / (peak * efficiency) +
           Bytes(c) / machine_.stream_bytes_per_second;
  }

  // Where the weights, which are fetched ahead, come while others are multiplied
  // with.
  double CostBesideWeights(const Contraction& c, double peak,
                           double efficiency) const {
    const double rate = machine_.stream_bytes_per_second;
    const double weights = WeightBytes(c);
    return std::max(static_cast<double>(c.flops()) / (peak * efficiency),
                    weights / rate) +
           (Bytes(c) - weights) / rate;
  }

  double WeightBytes(const Contraction& c) const {
    return static_cast<double>(SizeOf(types_.weight) * c.groups *
                               WeightRows(c) * c.out * Product(c.kernel));
  }
  // Of all operands.
  double Bytes(const Contraction& c) const {
    const int64_t data =
        SizeOf(types_.data) * c.batch * c.groups * c.in * Product(c.input);
    const int64_t output =
        SizeOf(types_.output) * c.batch * c.groups * c.out * Product(c.output);
    return static_cast<double>(data + output) + WeightBytes(c);
  }

  // Of reading what channels leave empty of their last block.
  double PaddingCost(const Contraction& c, int64_t channels,
                     int64_t data_block) const {
    const int64_t padding =
        DivideUp(channels, data_block) * data_block - channels;
    const int64_t elements =
        c.batch * c.in / channels * padding * c.groups * Product(c.input);
    return static_cast<double>(SizeOf(types_.data) * elements) /
           machine_.stream_bytes_per_second;
  }

  // Of kernels that put one element of data into all lanes.
  double BroadcastCost(const Contraction& c, double efficiency) const {
    if (types_.data != types_.sum) efficiency *= rates().widening;
    if (!IsFloat(types_.sum)) efficiency *= rates().integers;
    return Cost(c, efficiency);
  }

  // Those that multiply elements of these types.
  std::vector<ProductUnit> Units() const {
    std::vector<ProductUnit> units = machine_.products;
    std::erase_if(units, [&](const ProductUnit& unit) {
      return !unit.Takes(types_.data, types_.weight, types_.sum);
    });
    return units;
  }

  // Of the weight of one group.
  double PackingCost(const Contraction& c) const {
    return static_cast<double>(c.in * c.out) *
           static_cast<double>(Product(c.kernel)) * machine_.pack_seconds;
  }

  const CpuMachine machine_;
  const ContractionTypes types_;
  const int lanes_;
};

}  // namespace mxc::contraction
