// SPDX-License-Identifier: Apache-2.0
// sgd_update and sgd_mom_update, with and without a copy of the weight.
#pragma once

#include "ir/ops/updates/update.h"

namespace mxc {

struct SgdUpdateAttrs : UpdateOptions {
  bool lazy_update = true;

  void Describe(Fields& f) {
    UpdateOptions::Describe(f);
    DescribeLazy(f, lazy_update);
  }
};

struct MomentumUpdateAttrs : UpdateOptions {
  double momentum = 0;

  void Describe(Fields& f) {
    DescribeRate(f);
    f("momentum", momentum).Doc("what part of the last step is made again");
    DescribeGradient(f);
  }
};

struct SgdMomUpdateAttrs : MomentumUpdateAttrs {
  bool lazy_update = true;

  void Describe(Fields& f) {
    MomentumUpdateAttrs::Describe(f);
    DescribeLazy(f, lazy_update);
  }
};

Op<SgdUpdateAttrs> SgdUpdateOperator(std::string name, WeightCopy copy);
Op<SgdMomUpdateAttrs> SgdMomUpdateOperator(std::string name, WeightCopy copy);
Op<MomentumUpdateAttrs> NagMomUpdateOperator(std::string name, WeightCopy copy);

}  // namespace mxc
