// SPDX-License-Identifier: Apache-2.0
// More or fewer samples than a compiled batch: they run in batches, the last of
// which is filled up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/formats/array.h"
#include "tools/run/feed.h"
#include "tools/run/session.h"

namespace mxc::run {

// An output of all samples.
struct OutputValues {
  std::string name;
  runtime::Array array;
};

// What is fed to the one input that is read: pictures, or an array whose first
// axis is the samples'.
class SampleBatches {
 public:
  // Nothing where the samples are exactly a batch of `entry`, where several
  // inputs are fed, or where the array is of another shape.
  static std::optional<SampleBatches> Of(const api::Model& model, size_t entry,
                                         const Feed& feed);

  int64_t samples() const { return samples_; }
  const NetworkInput& input() const { return input_; }
  // Null where the samples are pictures.
  const runtime::Array* array() const { return array_ ? &*array_ : nullptr; }

  // Runs them all. Every output must have the samples on its first axis.
  std::vector<OutputValues> Run(api::Executor& executor,
                                std::span<const mxc_tensor> outputs) const;

 private:
  SampleBatches(const NetworkInput& input, const Feed& feed)
      : input_(input), feed_(&feed) {}

  void Fill(std::span<std::byte> memory, int64_t first) const;

  NetworkInput input_;
  const Feed* feed_;
  std::vector<std::string> pictures_;
  std::optional<runtime::Array> array_;
  int64_t samples_ = 0;
};

}  // namespace mxc::run
