// SPDX-License-Identifier: Apache-2.0
#include "ir/optimizers/optimizer.h"

namespace mxc {

void OptimizerOptions::Describe(Fields& f) {
  f("learning_rate", learning_rate).Doc("the rate where no schedule gives one");
  f("wd", wd).Doc("weight decay");
  f("rescale_grad", rescale_grad)
      .Doc("multiplies gradients; 1 / batch where losses are summed");
  f("clip_gradient", clip_gradient)
      .Doc("limits gradients to ±this; None: no limit");
  f("begin_num_update", begin_num_update)
      .Min(0)
      .Doc("how many updates count as made before the first");
  f("multi_precision", multi_precision)
      .Doc("half-precision parameters are kept in float32, too");
  f("aggregate_num", aggregate_num)
      .Doc("parameters updated by one call of MXNet")
      .Hint();
}

}  // namespace mxc
