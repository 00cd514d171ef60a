// SPDX-License-Identifier: Apache-2.0
// _contrib_SyncBatchNorm: BatchNorm whose batch is spread over `ndev` devices
// that share `key`; on one device it is BatchNorm along axis 1.
#include "ir/ops/nn/batch_norm.h"

namespace mxc {
namespace {

struct SyncBatchNormAttrs {
  double eps = 1e-3;
  double momentum = 0.9;
  bool fix_gamma = true;
  bool use_global_stats = false;
  bool output_mean_var = false;
  int64_t ndev = 1;
  std::string key;

  void Describe(Fields& f) {
    f("eps", eps).Doc("added to the variance");
    f("momentum", momentum).Range(0, 1).Doc("of the moving statistics");
    f("fix_gamma", fix_gamma).Doc("whether gamma counts as 1");
    f("use_global_stats", use_global_stats)
        .Doc("whether the moving statistics are used when training too");
    f("output_mean_var", output_mean_var)
        .Doc("whether mean and var can be read");
    f("ndev", ndev).Min(1).Hint();
    f("key", key).Required().Hint();
  }
  BatchNormForm form() const {
    return {eps, momentum, 1, fix_gamma, use_global_stats};
  }
};

}  // namespace

MXC_OP(SyncBatchNorm) {
  return BatchNormOperator<SyncBatchNormAttrs>("_contrib_SyncBatchNorm")
      .Doc("BatchNorm over several devices");
}

}  // namespace mxc
