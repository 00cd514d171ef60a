// SPDX-License-Identifier: Apache-2.0
// BatchNorm and its kin: a row for each.
#include "ir/ops/nn/norm/batch_norm.h"

namespace mxc {
namespace {

// BatchNorm_v1: BatchNorm as of 0.8, along axis 1; its output var is the
// variance itself.
// Source: MXNet 1.9.1 operator/batch_norm_v1-inl.h.
struct BatchNormV1Attrs : BatchNormOptions {
  BatchNormForm form() const {
    BatchNormForm form = BatchNormOptions::form();
    form.variance_as_is = true;
    return form;
  }
};

// _contrib_SyncBatchNorm: BatchNorm whose batch is spread over `ndev` devices
// that share `key`; on one device it is BatchNorm along axis 1.
struct SyncBatchNormAttrs : BatchNormOptions {
  int64_t ndev = 1;
  std::string key;

  void Describe(Fields& f) {
    BatchNormOptions::Describe(f);
    f("ndev", ndev).Min(1).Hint();
    f("key", key).Required().Hint();
  }
};

// _contrib_BatchNormWithReLU: max(BatchNorm, 0).
struct BatchNormWithReluAttrs : BatchNormAttrs {
  BatchNormForm form() const {
    BatchNormForm form = BatchNormAttrs::form();
    form.relu = true;
    return form;
  }
};

}  // namespace

MXC_OP(BatchNorm) {
  return BatchNormOperator<BatchNormAttrs>("BatchNorm")
      .Doc("normalises each channel by its mean and variance")
      .Alias({"_npx_batch_norm"});
}

// CuDNNBatchNorm: BatchNorm under the name of its former GPU form.
MXC_OP(CuDNNBatchNorm) {
  return BatchNormOperator<BatchNormAttrs>("CuDNNBatchNorm").Doc("BatchNorm");
}

MXC_OP(BatchNormV1) {
  return BatchNormOperator<BatchNormV1Attrs>("BatchNorm_v1")
      .Doc("BatchNorm as of 0.8");
}

MXC_OP(SyncBatchNorm) {
  return BatchNormOperator<SyncBatchNormAttrs>("_contrib_SyncBatchNorm")
      .Doc("BatchNorm over several devices");
}

MXC_OP(BatchNormWithReLU) {
  return BatchNormOperator<BatchNormWithReluAttrs>("_contrib_BatchNormWithReLU")
      .Doc("BatchNorm, then relu");
}

}  // namespace mxc
