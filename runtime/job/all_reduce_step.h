// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several that sum their gradients among
// themselves (runtime/kvstore/collective) and each make the same updates, of
// equal bytes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/job/status.h"
#include "runtime/job/summing_step.h"
#include "runtime/kvstore/collective/all_reduce.h"

namespace mxc::job {

class AllReduceStep final : public SummingStep {
 public:
  AllReduceStep(train::ArtifactStep& step, const train::ArtifactKeys& keys,
                kvstore::Worker& worker, uint32_t rank, uint32_t workers,
                MeshMaker make_mesh);

 private:
  Status Connect(std::unique_ptr<kvstore::Mesh> mesh) override;
  void BeginSum(const Plan& plan, size_t bucket) override;
  Status Update(const Plan& plan, double learning_rate) override;

  Status UpdatePart(size_t bucket, const Part& part, double learning_rate);
  bool FindsNotFinite(const Plan& plan) const;

  std::vector<std::vector<float>> buffers_;         // by bucket
  std::unique_ptr<kvstore::AllReduce> all_reduce_;  // last: it uses the buffers
};

}  // namespace mxc::job
