// SPDX-License-Identifier: Apache-2.0
// A catalog like a device's: convolutions row-major or, twice as fast, with
// channels last; sums over what has its channels last take a second.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "tests/passes/blocked_catalog.h"

namespace mxc {

class ChannelsLastCatalog : public BlockedCatalog {
 public:
  std::vector<KernelCandidate> Candidates(const Contraction& c) const override {
    if (c.kernel.empty()) return {};
    std::vector<KernelCandidate> forms = BlockedCatalog::Candidates(c);
    if (forms.empty()) return forms;
    forms.resize(1);
    KernelCandidate& row_major = forms[0];
    row_major.choice.numbers[0] = 1;
    row_major.data_block = row_major.output_block = row_major.weight_block = 1;
    row_major.any_output = true;
    row_major.halo_low.clear();
    row_major.halo_high.clear();
    row_major.tile.clear();
    row_major.cost = static_cast<double>(c.flops()) * 1e-10;
    KernelCandidate last = row_major;
    last.choice.numbers[0] = kWholeAxis;
    last.weight_block = last.output_block = kWholeAxis;
    last.data_block = c.groups * c.in < 4 ? 1 : kWholeAxis;
    last.cost /= 2;
    forms.push_back(last);
    return forms;
  }
  double KernelSeconds(const Program& program,
                       const Step& step) const override {
    if (step.map() == nullptr || step.inputs.empty()) return 0;
    const bool sums =
        std::ranges::any_of(step.map()->stores, [](const Store& store) {
          return store.value->kind == ExprKind::kReduce;
        });
    return sums && !program.buffers[step.inputs[0]].layout.row_major() ? 1 : 0;
  }
};

}  // namespace mxc
