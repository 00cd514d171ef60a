// SPDX-License-Identifier: Apache-2.0
// What a ShardedStep has in a checkpoint: all of it gathered on worker 0, or each
// worker's part in a file of its own.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/element.h"
#include "runtime/job/mesh_messages.h"
#include "runtime/job/sharded_step.h"
#include "runtime/job/state_file.h"

namespace mxc::job {

using train::StateShares;

Status ShardedStep::CollectStates() {
  if (exchange_ == nullptr) return {};
  MXC_RT_RETURN_IF_ERROR(Settle());
  collected_.clear();
  std::optional<StateFile> file;
  if (rank_ == 0) {
    MXC_RT_ASSIGN(file, StateFile::Create());
  }
  const auto append = [&](std::span<const std::byte> piece) {
    return file->Append(piece);
  };
  for (uint32_t key = 0; key < updated_.position; ++key) {
    const size_t row = updated_.states[key];
    if (!Shares(row)) continue;
    for (const StateShares::Part& part : shares_.Parts(key)) {
      const auto bytes = BytesOf(key, part);
      if (rank_ == 0) {
        MXC_RT_RETURN_IF_ERROR(
            part.worker == 0 ? append(bytes)
                             : ReceivePieces(exchange_->mesh(), part.worker,
                                             bytes.size(), append));
      } else if (rank_ == part.worker) {
        MXC_RT_RETURN_IF_ERROR(SendPieces(exchange_->mesh(), 0, bytes));
      }
    }
    if (rank_ == 0) file->End(step_.states()[row]);
  }
  if (rank_ == 0) collected_ = file->Take();
  return {};
}

// Where others are dealt their parts by worker 0, that has all.
std::vector<std::pair<uint64_t, uint64_t>> ShardedStep::Own(size_t index) {
  if (own_ == nullptr || !Shares(index)) return SummingStep::Own(index);
  const uint32_t key = updated_.KeyOfState(index);
  const std::span<std::byte> value = step_.State(index);
  if (!updated_.IsOptimizers(key) && !SharesParameter(key)) {
    return {{0, value.size()}};
  }
  std::vector<std::pair<uint64_t, uint64_t>> own;
  for (const StateShares::Part& part : shares_.Parts(key)) {
    if (part.worker != rank_) continue;
    const auto bytes = shares_.In(value, key, part);
    own.emplace_back(bytes.data() - value.data(), bytes.size());
  }
  return own;
}

// By worker, what each has written; on worker 0.
StatusOr<std::vector<runtime::SafetensorsFile>> ShardedStep::GatherFiles(
    const runtime::SafetensorsFile& own) {
  std::vector<runtime::SafetensorsFile> files = {own};
  if (rank_ != 0) {
    MXC_RT_RETURN_IF_ERROR(
        SendPieces(exchange_->mesh(), 0, std::as_bytes(std::span(&own, 1))));
    return files;
  }
  for (uint32_t worker = 1; worker < workers_; ++worker) {
    const auto file =
        std::as_writable_bytes(std::span(&files.emplace_back(), 1));
    MXC_RT_RETURN_IF_ERROR(
        ReceivePieces(exchange_->mesh(), worker, file.size(), [&](auto piece) {
          std::ranges::copy(piece, file.begin());
          return Status();
        }));
  }
  return files;
}

// Nobody writes before worker 0 has said that the set is unfinished.
StatusOr<train::PieceIndex> ShardedStep::SavePieces(
    const train::CheckpointName& name, runtime::FileWriter::Sync sync) {
  train::PieceIndex index;
  if (exchange_ == nullptr) return index;
  MXC_RT_RETURN_IF_ERROR(Settle());
  MXC_RT_RETURN_IF_ERROR(AskFirst(exchange_->mesh(), true).status());
  std::vector<runtime::NamedArray> own;
  for (uint32_t key = 0; key < updated_.position; ++key) {
    const size_t row = updated_.states[key];
    if (!Shares(row)) continue;
    const data::Field& field = step_.states()[row];
    const uint64_t size =
        static_cast<uint64_t>(runtime::ElementBytes(field.type));
    train::PiecedArray& array = index.arrays.emplace_back();
    array.name = (updated_.IsParameter(key) ? "arg:" : "") + field.name;
    array.type = field.type;
    array.shape = field.shape;
    for (const StateShares::Part& part : shares_.Parts(key)) {
      const std::span<std::byte> bytes = BytesOf(key, part);
      const uint64_t count = bytes.size() / size;
      array.pieces.push_back({part.worker, 0, part.begin, count});
      if (part.worker != rank_) continue;
      const auto leave = [](std::byte*) {};
      own.push_back({array.name,
                     {field.type,
                      {static_cast<int64_t>(count)},
                      std::shared_ptr<std::byte[]>(bytes.data(), leave)}});
    }
  }
  const auto path_of = [&](uint32_t worker) {
    return name.Path(train::PieceExtension(worker).c_str());
  };
  MXC_RT_ASSIGN(const auto written,
                runtime::SaveSafetensors(path_of(rank_), own, sync));
  MXC_RT_ASSIGN(const auto files, GatherFiles(written));
  if (rank_ != 0) return train::PieceIndex();
  std::vector<uint64_t> ends;
  for (uint32_t worker = 0; worker < workers_; ++worker) {
    const std::string path = path_of(worker);
    index.files.push_back(
        {path.substr(path.rfind('/') + 1), files[worker].checksum});
    ends.push_back(files[worker].begin);
  }
  for (train::PiecedArray& array : index.arrays) {
    for (train::ArrayPiece& piece : array.pieces) {
      piece.at = ends[piece.file];
      ends[piece.file] += piece.count * static_cast<uint64_t>(
                                            runtime::ElementBytes(array.type));
    }
  }
  return index;
}

}  // namespace mxc::job
