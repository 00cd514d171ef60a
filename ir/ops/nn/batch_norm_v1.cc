// SPDX-License-Identifier: Apache-2.0
// BatchNorm_v1: BatchNorm as of 0.8, along axis 1; its output var is the
// variance itself.
// Source: MXNet 1.9.1 operator/batch_norm_v1-inl.h.
#include "ir/ops/nn/batch_norm.h"

namespace mxc {
namespace {

struct BatchNormV1Attrs {
  double eps = 1e-3;
  double momentum = 0.9;
  bool fix_gamma = true;
  bool use_global_stats = false;
  bool output_mean_var = false;

  void Describe(Fields& f) {
    f("eps", eps).Doc("added to the variance");
    f("momentum", momentum).Range(0, 1).Doc("of the moving statistics");
    f("fix_gamma", fix_gamma).Doc("whether gamma counts as 1");
    f("use_global_stats", use_global_stats)
        .Doc("whether the moving statistics are used when training too");
    f("output_mean_var", output_mean_var)
        .Doc("whether mean and var can be read");
  }
  BatchNormForm form() const {
    return {eps, momentum, 1, fix_gamma, use_global_stats, false, true};
  }
};

}  // namespace

MXC_OP(BatchNormV1) {
  return BatchNormOperator<BatchNormV1Attrs>("BatchNorm_v1")
      .Doc("BatchNorm as of 0.8");
}

}  // namespace mxc
