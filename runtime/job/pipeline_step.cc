// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/pipeline_step.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mxc::job {
namespace {

// Of a state that travels: so much memory do both ends take.
constexpr uint64_t kPiece = 4 << 20;

Status WriteAll(const runtime::NamelessFile& file,
                std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t size = write(file.descriptor(), bytes.data(), bytes.size());
    if (size >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(size));
    } else if (errno != EINTR) {
      return Fail(StatusCode::kIo,
                  "cannot write what other stages have learned to a temporary "
                  "file: %s",
                  std::strerror(errno));
    }
  }
  return {};
}

}  // namespace

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
  auto ends = static_cast<std::byte>(own);
  if (rank_ > 0) {
    MXC_RT_RETURN_IF_ERROR(member_->ReceiveApart(0, {&ends, 1}));
    return ends != std::byte{0};
  }
  for (size_t stage = 1; stage < stages_.size(); ++stage) {
    MXC_RT_RETURN_IF_ERROR(member_->SendApart(stage, {&ends, 1}));
  }
  return own;
}

Status PipelineStep::CollectStates() {
  if (member_ == nullptr) return {};
  return rank_ == 0 ? ReceiveStates() : SendStates();
}

// A piece follows once the one before has been written.
Status PipelineStep::SendStates() {
  for (const train::StageSet::State& state : stages_.states()) {
    const auto& holder = state.holders.front();
    if (holder.stage != rank_) continue;
    std::span<const std::byte> bytes = step_.State(holder.row);
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min<uint64_t>(bytes.size(), kPiece));
      std::byte written;
      MXC_RT_RETURN_IF_ERROR(member_->SendApart(0, piece));
      MXC_RT_RETURN_IF_ERROR(member_->ReceiveApart(0, {&written, 1}));
      bytes = bytes.subspan(piece.size());
    }
  }
  return {};
}

Status PipelineStep::ReceiveStates() {
  collected_.clear();
  MXC_RT_ASSIGN(runtime::NamelessFile made, runtime::NamelessFile::Create());
  const auto file =
      std::make_shared<const runtime::NamelessFile>(std::move(made));
  uint64_t offset = 0;
  for (const train::StageSet::State& state : stages_.states()) {
    const auto& holder = state.holders.front();
    if (holder.stage == 0) continue;
    const auto& tables = stages_.models()[holder.stage]->tables();
    const uint64_t bytes = tables.states()[holder.row].bytes;
    MXC_RT_RETURN_IF_ERROR(ReceiveInto(*file, holder.stage, bytes));
    runtime::Array array{state.field.type, state.field.shape, nullptr};
    array.in_file = std::make_shared<const runtime::FilePiece>(
        runtime::FilePiece{file, offset, bytes});
    collected_.push_back({state.field.name, std::move(array)});
    offset += bytes;
  }
  return {};
}

Status PipelineStep::ReceiveInto(const runtime::NamelessFile& file,
                                 size_t stage, uint64_t bytes) {
  std::vector<std::byte> piece(std::min(bytes, kPiece));
  while (bytes > 0) {
    const auto part = std::span(piece).first(std::min(bytes, kPiece));
    const std::byte written{1};
    MXC_RT_RETURN_IF_ERROR(member_->ReceiveApart(stage, part));
    MXC_RT_RETURN_IF_ERROR(WriteAll(file, part));
    MXC_RT_RETURN_IF_ERROR(member_->SendApart(stage, {&written, 1}));
    bytes -= part.size();
  }
  return {};
}

}  // namespace mxc::job
