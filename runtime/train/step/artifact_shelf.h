// SPDX-License-Identifier: Apache-2.0
// A server's values in the states of an artifact, which its entries `update`
// make of gradients.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "runtime/executor/executor.h"
#include "runtime/kvstore/shelf.h"
#include "runtime/train/step/artifact_keys.h"

namespace mxc::train {

class ArtifactShelf final : public kvstore::Shelf {
 public:
  // `keys` must outlive the shelf. `share`: whose states it updates; null: its
  // own.
  static runtime::StatusOr<std::unique_ptr<ArtifactShelf>> Make(
      std::shared_ptr<const runtime::Model> model, const ArtifactKeys& keys,
      const runtime::Executor* share = nullptr);

  std::span<std::byte> Value(uint32_t key) override;
  void OnWritten(uint32_t key) override;
  runtime::Status Update(uint32_t key, uint64_t first,
                         std::span<const float> gradient, double rate) override;
  runtime::Status UpdateRows(uint32_t key, const kvstore::Rows& rows,
                             double rate) override;
  std::vector<std::span<std::byte>> Kept(uint32_t key, uint64_t first) override;

 private:
  explicit ArtifactShelf(const ArtifactKeys& keys) : keys_(keys) {}

  // The values of keys_.counters, one after the other.
  using Counters = std::vector<std::vector<std::byte>>;

  Counters& CountersOf(uint32_t key, uint64_t first);
  // Returns whether the entry can update those elements alone.
  bool IsWholeTasks(uint32_t key, uint64_t first, uint64_t count) const;
  // The whole gradient begins at `whole`; elements elsewhere than at `first` are
  // of no interest.
  runtime::Status Run(uint32_t key, uint64_t first, uint64_t count,
                      const float* whole, double rate);
  std::vector<std::span<float>> Tables(uint32_t key);
  const float* Whole(uint32_t key, uint64_t first,
                     std::span<const float> gradient);

  const ArtifactKeys& keys_;
  // By key; null where it is not trained. All share the states of the first.
  std::vector<std::unique_ptr<runtime::Executor>> executors_;
  runtime::Executor* first_ = nullptr;  // of those
  std::vector<std::byte> position_;
  // By key, of those whose elements are not all here: the gradient, 0 elsewhere.
  std::vector<std::vector<float>> gradients_;
  // Of each key, of each of its parts by where it begins.
  std::vector<std::map<uint64_t, Counters>> counters_;
  Counters begun_;  // those of a part that was never updated
};

}  // namespace mxc::train
