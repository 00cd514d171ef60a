// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {
namespace {

// Numbers 0 and 1 of preloaded updates.
UpdateForm Preloaded(std::vector<std::string> states, WeightCopy copy) {
  return {.states = std::move(states),
          .copy = copy,
          .numbers = {"lrs", "wds"},
          .several = {.numbers_for_each = true}};
}

std::optional<std::string> CheckMultiSgd(const MultiSgdAttrs& a) {
  return CheckLengths({{"lrs", a.lrs.size()}, {"wds", a.wds.size()}},
                      a.num_weights);
}

void StepBySgd(WeightUpdate& u, const UpdateTerms& terms) {
  u.SetWeight(u.weight() - SgdStep(terms));
}

void StepByMomentum(const MomentumUpdateAttrs& a, WeightUpdate& u,
                    const UpdateTerms& terms) {
  u.SetMoved(SgdMomentum(terms, u.Literal(a.momentum), u.State(0)));
}

}  // namespace

MomentumUpdateAttrs MultiSgdAttrs::Of(int i) const {
  const auto at = [i](const std::vector<double>& list) {
    return list.empty() ? 0 : list[static_cast<size_t>(i)];
  };
  MomentumUpdateAttrs each;
  each.lr = at(lrs);
  each.wd = at(wds);
  each.momentum = momentum;
  each.rescale_grad = rescale_grad;
  each.clip_gradient = clip_gradient;
  return each;
}

Op<MultiSgdAttrs> MultiSgdOperator(std::string name, WeightCopy copy) {
  return MultiUpdateOperator<MultiSgdAttrs>(std::move(name), {{}, copy},
                                            [](const auto&, WeightUpdate& u) {
                                              StepBySgd(u,
                                                        u.Terms(u.Gradient()));
                                            })
      .Check(CheckMultiSgd);
}

Op<MultiSgdMomAttrs> MultiSgdMomOperator(std::string name, WeightCopy copy) {
  return MultiUpdateOperator<MultiSgdMomAttrs>(
             std::move(name), {{"mom"}, copy},
             [](const MomentumUpdateAttrs& a, WeightUpdate& u) {
               StepByMomentum(a, u, u.Terms(u.Gradient()));
             })
      .Check(CheckMultiSgd);
}

Op<PreloadedSgdAttrs> PreloadedSgdOperator(std::string name, WeightCopy copy) {
  return MultiUpdateOperator<PreloadedSgdAttrs>(
      std::move(name), Preloaded({}, copy), [](const auto&, WeightUpdate& u) {
        StepBySgd(u, u.TermsByNumbers(u.Gradient()));
      });
}

Op<PreloadedSgdMomAttrs> PreloadedSgdMomOperator(std::string name,
                                                 WeightCopy copy) {
  return MultiUpdateOperator<PreloadedSgdMomAttrs>(
      std::move(name), Preloaded({"mom"}, copy),
      [](const MomentumUpdateAttrs& a, WeightUpdate& u) {
        StepByMomentum(a, u, u.TermsByNumbers(u.Gradient()));
      });
}

}  // namespace mxc
