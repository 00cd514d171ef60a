// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/pipeline_step.h"

#include <utility>

#include "runtime/job/mesh_messages.h"
#include "runtime/job/state_file.h"

namespace mxc::job {

// All have read the same checkpoint, or none.
StatusOr<train::Position> PipelineStep::Begin(
    const train::Position& own, const train::EpochLength& length) {
  MXC_RT_ASSIGN(const train::Position at, JobStep::Begin(own, length));
  if (worker_.replaces()) {
    return Fail(StatusCode::kFailed,
                "the others cannot go on with another worker %u: it has what "
                "its stage has learned; with mxc launch --on-death restart "
                "all begin again",
                rank_);
  }
  if (at.steps != own.steps || at.epochs != own.epochs ||
      at.batches != own.batches) {
    return Fail(StatusCode::kInvalidArgument,
                "worker %u stands at step %lld, and worker 0 at step %lld: all "
                "stages go on from the same checkpoints, in a folder that all "
                "of them see",
                rank_, static_cast<long long>(own.steps),
                static_cast<long long>(at.steps));
  }
  MXC_RT_ASSIGN(auto mesh, make_mesh_());
  MXC_RT_RETURN_IF_ERROR(mesh->AwaitAll());
  member_ = std::make_unique<MeshMember>(std::move(mesh));
  step_.Join(member_.get());
  return at;
}

StatusOr<float> PipelineStep::Accumulate(const data::Batch&, int64_t) {
  return Fail(StatusCode::kUnsupported,
              "the stages of a pipeline update their parameters by each batch");
}

StatusOr<bool> PipelineStep::EndsHere(bool own) {
  return AskFirst(member_->mesh(), own);
}

Status PipelineStep::CollectStates() {
  if (member_ == nullptr) return {};
  return rank_ == 0 ? ReceiveStates() : SendStates();
}

Status PipelineStep::SendStates() {
  for (const train::StageSet::State& state : stages_.states()) {
    const auto& holder = state.holders.front();
    if (holder.stage != rank_) continue;
    MXC_RT_RETURN_IF_ERROR(
        SendPieces(member_->mesh(), 0, step_.State(holder.row)));
  }
  return {};
}

Status PipelineStep::ReceiveStates() {
  collected_.clear();
  MXC_RT_ASSIGN(StateFile file, StateFile::Create());
  for (const train::StageSet::State& state : stages_.states()) {
    const auto& holder = state.holders.front();
    if (holder.stage == 0) continue;
    const auto& tables = stages_.models()[holder.stage]->tables();
    MXC_RT_RETURN_IF_ERROR(ReceivePieces(
        member_->mesh(), holder.stage, tables.states()[holder.row].bytes,
        [&](auto piece) { return file.Append(piece); }));
    file.End(state.field);
  }
  collected_ = file.Take();
  return {};
}

}  // namespace mxc::job
