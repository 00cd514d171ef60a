// SPDX-License-Identifier: Apache-2.0
// BatchNorm_v1: BatchNorm as of 0.8, along axis 1; its output var is the
// variance itself.
// Source: MXNet 1.9.1 operator/batch_norm_v1-inl.h.
#include "ir/ops/nn/batch_norm.h"

namespace mxc {
namespace {

struct BatchNormV1Attrs : BatchNormOptions {
  BatchNormForm form() const {
    BatchNormForm form = BatchNormOptions::form();
    form.variance_as_is = true;
    return form;
  }
};

}  // namespace

MXC_OP(BatchNormV1) {
  return BatchNormOperator<BatchNormV1Attrs>("BatchNorm_v1")
      .Doc("BatchNorm as of 0.8");
}

}  // namespace mxc
