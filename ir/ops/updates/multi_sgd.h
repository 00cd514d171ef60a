// SPDX-License-Identifier: Apache-2.0
// sgd_update and sgd_mom_update of several weights, by rates and decays that are
// attributes, or inputs lrs and wds behind the weights ("preloaded").
#pragma once

#include <string>
#include <vector>

#include "ir/ops/updates/multi_update.h"
#include "ir/ops/updates/sgd_update.h"

namespace mxc {

struct MultiSgdAttrs {
  std::vector<double> lrs, wds;
  double momentum = 0, rescale_grad = 1, clip_gradient = -1;
  int64_t num_weights = 1;

  int64_t weights() const { return num_weights; }
  MomentumUpdateAttrs Of(int i) const;

  void Describe(Fields& f) {
    DescribeRates(f);
    DescribeOthers(f);
  }

 protected:
  void DescribeRates(Fields& f) {
    f("lrs", lrs).Required().Doc("learning rate of each weight");
    f("wds", wds).Required().Doc("weight decay of each weight");
  }
  void DescribeMomentum(Fields& f) {
    f("momentum", momentum).Doc("what part of the last step is made again");
  }
  void DescribeOthers(Fields& f) {
    f("rescale_grad", rescale_grad).Doc("multiplies the gradients");
    f("clip_gradient", clip_gradient)
        .Doc("limits them to ±this; no limit if below 0");
    DescribeWeights(f, "num_weights", num_weights);
  }
};

struct MultiSgdMomAttrs : MultiSgdAttrs {
  void Describe(Fields& f) {
    DescribeRates(f);
    DescribeMomentum(f);
    DescribeOthers(f);
  }
};

struct PreloadedSgdAttrs : MultiSgdAttrs {
  void Describe(Fields& f) { DescribeOthers(f); }
};

struct PreloadedSgdMomAttrs : MultiSgdAttrs {
  void Describe(Fields& f) {
    DescribeMomentum(f);
    DescribeOthers(f);
  }
};

Op<MultiSgdAttrs> MultiSgdOperator(std::string name, WeightCopy copy);
Op<MultiSgdMomAttrs> MultiSgdMomOperator(std::string name, WeightCopy copy);
Op<PreloadedSgdAttrs> PreloadedSgdOperator(std::string name, WeightCopy copy);
Op<PreloadedSgdMomAttrs> PreloadedSgdMomOperator(std::string name,
                                                 WeightCopy copy);

}  // namespace mxc
