// SPDX-License-Identifier: Apache-2.0
#include "ir/program/kernel_catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/program/steps/branch.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/tile_loop.h"

namespace mxc {
namespace {

double SecondsOf(const KernelCatalog& catalog, const Program& program) {
  double seconds = 0;
  for (const Step& step : program.steps) {
    seconds += catalog.Seconds(program, step);
  }
  return seconds;
}

// Steps that the runtime walks; of a branch the dearer side counts.
double SecondsInside(const KernelCatalog& catalog, const Program& program,
                     const Step& step) {
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    return static_cast<double>(repeat->turns) *
           SecondsOf(catalog, *repeat->body);
  }
  if (const Branch* branch = step.body.As<Branch>()) {
    return std::max(SecondsOf(catalog, *branch->then),
                    SecondsOf(catalog, *branch->otherwise));
  }
  if (const Start* start = step.body.As<Start>()) {
    Step begun = step;
    begun.body = start->body;
    return catalog.Seconds(program, begun);
  }
  return 0;
}

}  // namespace

double KernelCatalog::Seconds(const Program& program, const Step& step) const {
  if (step.view) return 0;
  return step.body.work() == Work::kSteps
             ? SecondsInside(*this, program, step)
             : machine_.launch_seconds + WorkSeconds(program, step);
}

double KernelCatalog::WorkSeconds(const Program& program,
                                  const Step& step) const {
  if (step.view || step.body.work() == Work::kSteps) return 0;
  if (const TileLoop* loop = step.body.As<TileLoop>()) {
    double seconds = 0;
    for (const Step& inner : loop->tile->steps) {
      seconds += WorkSeconds(*loop->tile, inner);
    }
    return static_cast<double>(loop->tiles) * seconds;
  }
  if (step.body.work() == Work::kTransfer) {
    const Buffer& to = program.buffers[step.outputs[0]];
    return static_cast<double>(to.bytes()) / machine_.copy_bytes_per_second;
  }
  int64_t bytes = 0;
  for (const int operand : step.operands()) {
    bytes += program.buffers[operand].bytes();
  }
  // The other cores, or blocks, work on the same operands.
  const double memory =
      static_cast<double>(bytes) / machine_.busy_l3_bytes_per_second;
  double arithmetic = KernelSeconds(program, step);
  if (arithmetic == 0) {
    arithmetic = static_cast<double>(step.flops(program)) /
                 machine_.contraction_flops_per_second;
  }
  return std::max(arithmetic, memory);
}

double KernelCatalog::KernelSeconds(const Program&, const Step& step) const {
  const ContractionStep* contraction = step.contraction();
  if (contraction == nullptr || contraction->choice.algorithm.empty()) return 0;
  return CostOfChoice(*contraction, Candidates(contraction->contraction));
}

std::string KernelCatalog::NameOf(const KernelCandidate& kernel) const {
  return fmt::format("{} {}", kernel.choice.algorithm,
                     fmt::join(kernel.choice.numbers, " "));
}

double CostOfChoice(const ContractionStep& step,
                    std::span<const KernelCandidate> candidates) {
  double of_parts = 0;
  for (const KernelCandidate& kernel : candidates) {
    if (kernel.choice != step.choice) continue;
    // The step computes all sums, or one that had parts would have them as groups.
    if (kernel.parts <= 1) return kernel.cost;
    if (of_parts == 0) of_parts = kernel.cost;
  }
  return of_parts;
}

}  // namespace mxc
