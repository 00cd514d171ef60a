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

MXC_OP(MultiSgdUpdate) {
  return MultiSgdOperator("multi_sgd_update", WeightCopy::kNone)
      .Doc("sgd_update of several weights");
}

MXC_OP(MultiMpSgdUpdate) {
  return MultiSgdOperator("multi_mp_sgd_update", WeightCopy::kState)
      .Doc("mp_sgd_update of several weights");
}

// MXNet 1.9.1 knows it without a graph alone.
MXC_OP(MultiSgdMomUpdate) {
  return MultiSgdMomOperator("multi_sgd_mom_update", WeightCopy::kNone)
      .Doc("sgd_mom_update of several weights");
}

MXC_OP(MultiMpSgdMomUpdate) {
  return MultiSgdMomOperator("multi_mp_sgd_mom_update", WeightCopy::kState)
      .Doc("mp_sgd_mom_update of several weights");
}

MXC_OP(PreloadedMultiSgdUpdate) {
  return PreloadedSgdOperator("preloaded_multi_sgd_update", WeightCopy::kNone)
      .Doc("sgd_update of several weights, by rates that are inputs");
}

MXC_OP(PreloadedMultiMpSgdUpdate) {
  return PreloadedSgdOperator("preloaded_multi_mp_sgd_update",
                              WeightCopy::kState)
      .Doc("multi_mp_sgd_update by rates that are inputs");
}

MXC_OP(PreloadedMultiSgdMomUpdate) {
  return PreloadedSgdMomOperator("preloaded_multi_sgd_mom_update",
                                 WeightCopy::kNone)
      .Doc("multi_sgd_mom_update by rates that are inputs");
}

MXC_OP(PreloadedMultiMpSgdMomUpdate) {
  return PreloadedSgdMomOperator("preloaded_multi_mp_sgd_mom_update",
                                 WeightCopy::kState)
      .Doc("multi_mp_sgd_mom_update by rates that are inputs");
}

}  // namespace mxc
