// SPDX-License-Identifier: Apache-2.0
#include "tests/passes/blocked_catalog.h"

#include <algorithm>

#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

// Weight f[a, b, …] in blocks of 4 along its first axis, which become
// innermost.
Layout BlockedWeight(const Contraction& c) {
  Extents shape;
  for (const Role role : c.weight_axes) {
    switch (role) {
      case Role::kGroup:
        shape.push_back(c.groups);
        break;
      case Role::kOut:
        shape.push_back(c.out);
        break;
      case Role::kGroupOut:
        shape.push_back(c.groups * c.out);
        break;
      case Role::kIn:
        shape.push_back(c.in);
        break;
      case Role::kGroupIn:
        shape.push_back(c.groups * c.in);
        break;
      case Role::kBatch:
        shape.push_back(c.batch);
        break;
      default:
        shape.push_back(c.kernel[static_cast<size_t>(role) -
                                 static_cast<size_t>(Role::kSpatial0)]);
    }
  }
  return Layout::Blocked(Shape(shape), 0, 4);
}

// Overlapping windows at a stride take three times as long as others, so that
// fold-strides finds work.
double CostOf(const Contraction& c) {
  bool strided = false;
  for (size_t k = 0; k < c.kernel.size(); ++k) {
    strided = strided || (c.stride[k] > 1 && c.kernel[k] > c.stride[k]);
  }
  return static_cast<double>(c.flops()) * (strided ? 3e-9 : 1e-9);
}

// Products of this depth are a library's, which stores sums as they are.
constexpr int64_t kLibraryDepth = 77;

}  // namespace

bool BlockedCatalog::RunsAtOnce(const Program& program,
                                std::span<const Step* const> steps) const {
  if (steps.size() != 2) return false;
  const auto elements = [&](const Step& step) {
    return program.buffers[step.outputs[0]].type.shape.elements();
  };
  const bool needs = std::ranges::any_of(steps[1]->inputs, [&](int b) {
    return std::ranges::count(steps[0]->outputs, b) > 0;
  });
  const bool overwrites = std::ranges::any_of(steps[1]->outputs, [&](int b) {
    return std::ranges::any_of(steps[0]->inputs, [&](int read) {
      return program.Root(read) == program.Root(b);
    });
  });
  return (!needs && !overwrites) || elements(*steps[0]) < elements(*steps[1]);
}

bool BlockedCatalog::Finishes(const Program&, const Step& step,
                              const KernelCandidate& kernel) const {
  return !kernel.library ||
         step.contraction()->epilogue->kind == ExprKind::kAcc;
}

std::vector<KernelCandidate> BlockedCatalog::Candidates(
    const Contraction& c) const {
  const bool spread =
      std::ranges::any_of(c.data_dilate, [](int64_t n) { return n != 1; });
  const bool over_batch =
      std::ranges::find(c.data_axes, Role::kGroupBatch) != c.data_axes.end();
  if (spread || c.flip || over_batch) return {};
  KernelCandidate candidate;
  candidate.weight = BlockedWeight(c);
  candidate.scratch_bytes = 256;
  // Data that are widened at each read take twice as long.
  candidate.cost = (c.types.data == c.types.sum ? 1 : 2) * CostOf(c);
  if (c.kernel.empty()) {
    candidate.choice = {"gemm", {4, 1, 1}};
    candidate.library = c.in == kLibraryDepth;
    if (candidate.library) candidate.choice.numbers.push_back(1);
    return {candidate};
  }
  candidate.choice = {"direct", {4, 2, 1}};
  candidate.data_block = c.groups * c.in < 4 ? 1 : 4;
  candidate.output_block = 4;
  candidate.tile.assign(c.kernel.size(), 4);
  for (size_t k = 0; k < c.kernel.size(); ++k) {
    const int64_t read =
        (c.output[k] - 1) * c.stride[k] + (c.kernel[k] - 1) * c.dilate[k] + 1;
    candidate.halo_low.push_back(c.pad[k]);
    candidate.halo_high.push_back(
        std::max<int64_t>(0, read - c.pad[k] - c.input[k]));
  }
  return {candidate};
}

}  // namespace mxc
