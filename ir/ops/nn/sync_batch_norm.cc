// SPDX-License-Identifier: Apache-2.0
// _contrib_SyncBatchNorm: BatchNorm whose batch is spread over `ndev` devices
// that share `key`; on one device it is BatchNorm along axis 1.
#include "ir/ops/nn/batch_norm.h"

namespace mxc {
namespace {

struct SyncBatchNormAttrs : BatchNormOptions {
  int64_t ndev = 1;
  std::string key;

  void Describe(Fields& f) {
    BatchNormOptions::Describe(f);
    f("ndev", ndev).Min(1).Hint();
    f("key", key).Required().Hint();
  }
};

}  // namespace

MXC_OP(SyncBatchNorm) {
  return BatchNormOperator<SyncBatchNormAttrs>("_contrib_SyncBatchNorm")
      .Doc("BatchNorm over several devices");
}

}  // namespace mxc
