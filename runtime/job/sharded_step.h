// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several that share what the optimizer keeps: each
// has it for its part of the parameters alone (runtime/train/step/state_shares),
// adds up the gradients of that part, makes its updates and gives the others its
// parameters. What all learn has the bytes that AllReduceStep learns.
//
// Gradients are added up where the step has left them. Of a state the memory is
// there as a whole, and the pages that this worker keeps nothing in cost nothing.
// A parameter comes back until the next step needs it.
//
// Where workers share parameters, too, each has its part of them and of their
// gradients alone, but for the few that steps are at (gathered_parameters.h): a
// gradient's sum is made before the one after next begins, and all workers score
// together.
//
// Worker 0 saves what a single process does: for a checkpoint the others send it
// their states, into a file (state_file.h); when training begins it deals them,
// unless each has cut them out for itself (own_parts.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/formats/safetensors.h"
#include "runtime/job/gathered_parameters.h"
#include "runtime/job/own_parts.h"
#include "runtime/job/status.h"
#include "runtime/job/summing_step.h"
#include "runtime/kvstore/collective/shard_exchange.h"
#include "runtime/train/step/state_shares.h"

namespace mxc::job {

class ShardedStep final : public SummingStep {
 public:
  // `keys` are of what servers have first values of (train::Kept), `updated` of
  // all. `own`: what this worker has of parameters; null: it has them whole.
  ShardedStep(train::ArtifactStep& step, const train::ArtifactKeys& keys,
              const train::ArtifactKeys& updated, train::StateShares shares,
              const OwnParts* own, kvstore::Worker& worker, uint32_t rank,
              uint32_t workers, MeshMaker make_mesh);
  ~ShardedStep() override;

  StatusOr<float> Score(const data::Batch& batch, int64_t length) override;
  // To find it, a step would have to run with all parameters.
  StatusOr<std::string> ExplainLoss() override {
    return own_ == nullptr ? SummingStep::ExplainLoss() : std::string();
  }
  std::vector<float> gradient_norms() const override;
  // Of what is shared, this worker's part alone.
  std::span<std::byte> State(size_t index) override;
  bool Shares(size_t index) const override;
  std::vector<std::pair<uint64_t, uint64_t>> Own(size_t index) override;
  StatusOr<train::PieceIndex> SavePieces(
      const train::CheckpointName& name,
      runtime::FileWriter::Sync sync) override;
  // Who has all parameters may end before others have them, and each needs the
  // others for that.
  Status EndEpoch() override { return SettleTogether(); }
  Status CollectStates() override;
  const std::vector<runtime::NamedArray>& collected() const override {
    return collected_;
  }
  // Checkpoints are made together.
  StatusOr<bool> EndsHere(bool own) override;

 private:
  // Values of a key, of which `width` of its elements have one.
  struct Values {
    uint32_t key = 0;
    std::span<float> values;
    uint64_t width = 1;
    uint64_t at = 0;  // in a bucket, where they begin
    double* squares = nullptr;
  };
  // What a run needs back, before which of its steps.
  struct Needed {
    uint32_t row = 0;
    uint64_t gathers = 0;  // how many must be over
  };
  static constexpr uint64_t kNone = UINT64_MAX;

  Status Connect(std::unique_ptr<kvstore::Mesh> mesh) override;
  void BeginSum(const Plan& plan, size_t bucket) override;
  Status Update(const Plan& plan, double learning_rate) override;
  Status BeforeRun() override;
  void BeforeRow(const Plan& plan, size_t row) override;
  Status AfterRun() override;

  // Returns whether workers share the parameter itself.
  bool SharesParameter(uint32_t key) const {
    return own_ != nullptr && shares_.IsShared(updated_.table[key]);
  }
  Status RequireAlike();
  Status ReleaseSums(const Plan& plan, size_t buckets);
  static uint32_t FirstNeeded(const Plan& plan, size_t bucket);
  void ReadPlan(const Plan& plan);
  Status Settle();
  Status SettleTogether();
  Status DealStates();
  StatusOr<std::vector<runtime::SafetensorsFile>> GatherFiles(
      const runtime::SafetensorsFile& own);
  // Of a state that is shared: the memory of a part.
  std::span<std::byte> BytesOf(uint32_t key,
                               const train::StateShares::Part& part) {
    return shares_.In(step_.State(updated_.states[key]), key, part);
  }
  Status ReceiveState(std::span<std::byte> state);
  std::span<float> PlaceOf(const Plan& plan, const Part& part);
  void AddTo(kvstore::RoundBuilder& rounds, const Values& values,
             uint64_t chunk) const;
  std::vector<kvstore::Round> ParametersOf(const Plan& plan, size_t bucket);
  StatusOr<bool> FindsNotFinite(const Plan& plan);
  Status UpdatePart(const Part& part, double learning_rate);
  Status UpdateElements(const Part& part, const train::StateShares::Part& own,
                        double learning_rate);

  const train::StateShares shares_;
  const OwnParts* const own_;
  std::optional<GatheredParameters> gathered_;
  bool alike_ = false;  // all workers are known to have begun with the same
  std::vector<size_t> by_needed_;  // buckets, as their parameters come back
  std::map<const Plan*, std::vector<Needed>> needed_;  // in the order of rows
  size_t awaited_ = 0;                                 // of those, in this run
  // Of gradients that are not added up where a step leaves them: those of
  // tables, and those that share their memory. By key, as all that follow.
  std::map<uint32_t, std::vector<float>> copies_;
  std::map<uint32_t, std::span<float>> places_;  // of the last run's gradients
  // By key, of this worker's own gradient: of the part that became a sum, and of
  // the rest once its memory was given back.
  std::map<uint32_t, double> squares_;
  std::vector<runtime::NamedArray> collected_;
  std::vector<uint64_t> sums_over_;  // by bucket: after which exchange
  size_t released_ = 0;              // buckets of the last run
  uint64_t first_gather_ = kNone;    // exchanges before the last run's
  Status status_;                    // of what it waited for
  std::unique_ptr<kvstore::ShardExchange> exchange_;  // last: it uses the rest
};

}  // namespace mxc::job
