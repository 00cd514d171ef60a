// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several that are the stages of a pipeline. All
// read the same batches, in the same order; what passes between stages goes over
// a mesh, which servers introduce. The worker of rank 0 speaks for all: it saves
// what all have learned, and says when training ends.
//
// A checkpoint holds what a single process saves. The others send their states
// for it, piece by piece, into a file without a name, from which worker 0 writes
// them: it never has them in memory. To go on from one each worker reads its own
// states there.
#pragma once

#include <memory>
#include <vector>

#include "runtime/job/job_step.h"
#include "runtime/job/mesh_maker.h"
#include "runtime/job/mesh_member.h"
#include "runtime/job/status.h"
#include "runtime/train/step/stage_set.h"

namespace mxc::job {

class PipelineStep final : public JobStep {
 public:
  // `step` is the stage's own; its facts are StageSet::FactsFor. `make_mesh` is
  // called once, when training begins.
  PipelineStep(train::ArtifactStep& step, const train::StageSet& stages,
               const train::ArtifactKeys& keys, kvstore::Worker& worker,
               uint32_t rank, MeshMaker make_mesh)
      : JobStep(step, keys, worker, rank),
        stages_(stages),
        make_mesh_(std::move(make_mesh)) {}
  ~PipelineStep() override { step_.Join(nullptr); }

  StatusOr<data::Provides> needs(int64_t) const override {
    return stages_.needs();
  }
  StatusOr<train::Position> Begin(const train::Position& own,
                                  const train::EpochLength& length) override;
  StatusOr<float> Accumulate(const data::Batch&, int64_t) override;
  StatusOr<float> Train(const data::Batch& batch, int64_t length,
                        double learning_rate) override {
    return step_.Train(stages_.PartOf(batch, rank_), length, learning_rate);
  }
  StatusOr<float> Score(const data::Batch& batch, int64_t length) override {
    return step_.Score(stages_.PartOf(batch, rank_), length);
  }
  std::vector<float> gradient_norms() const override {
    return step_.gradient_norms();
  }
  Status CollectStates() override;
  const std::vector<runtime::NamedArray>& collected() const override {
    return collected_;
  }
  StatusOr<bool> EndsHere(bool own) override;
  bool Saves(size_t) const override { return true; }
  // No stage runs again without the others.
  StatusOr<std::string> ExplainLoss() override { return std::string(); }

 private:
  Status SendStates();
  Status ReceiveStates();

  const train::StageSet& stages_;
  const MeshMaker make_mesh_;
  std::unique_ptr<MeshMember> member_;
  std::vector<runtime::NamedArray> collected_;
};

}  // namespace mxc::job
