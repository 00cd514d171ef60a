// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/updates/multi_adamw.h"

namespace mxc {

AdamwUpdateAttrs MultiAdamwAttrs::Of(int i) const {
  AdamwUpdateAttrs one = each;
  one.lr = lrs[static_cast<size_t>(i)];
  one.wd = wds[static_cast<size_t>(i)];
  one.eta = etas[static_cast<size_t>(i)];
  return one;
}

Op<MultiAdamwAttrs> MultiAdamwOperator(std::string name, WeightCopy copy) {
  return MultiUpdateOperator<MultiAdamwAttrs>(
             std::move(name), {{"mean", "var"}, copy, {"rescale_grad"}},
             StepByAdamw)
      .Check([](const MultiAdamwAttrs& a) {
        return CheckLengths({{"lrs", a.lrs.size()},
                             {"wds", a.wds.size()},
                             {"etas", a.etas.size()}},
                            a.num_weights);
      });
}

MXC_OP(MultiAdamwUpdate) {
  return MultiAdamwOperator("_multi_adamw_update", WeightCopy::kNone)
      .Doc("_adamw_update of several weights");
}

MXC_OP(MultiMpAdamwUpdate) {
  return MultiAdamwOperator("_multi_mp_adamw_update", WeightCopy::kState)
      .Doc("_mp_adamw_update of several weights");
}

}  // namespace mxc
