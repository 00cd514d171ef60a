// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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

bool KeepsCopy(const OptimizerOptions& options, DType parameter) {
  return options.multi_precision && AccumulateType(parameter) != parameter;
}

std::string StateForm(const Optimizer& optimizer, const void* attrs,
                      DType parameter) {
  const std::string form = optimizer.states(attrs);
  if (!KeepsCopy(optimizer.options(attrs), parameter)) return form;
  return optimizer.copy_follows ? fmt::format("({}, {})", form, kWeightCopy)
                                : fmt::format("({}, {})", kWeightCopy, form);
}

std::vector<std::string> StateNames(std::string_view form) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : std::string(form) + ",") {
    if (c != '(' && c != ')' && c != ',' && c != ' ') {
      name += c;
    } else if (!name.empty()) {
      if (name != "None") names.push_back(name);
      name.clear();
    }
  }
  return names;
}

}  // namespace mxc
