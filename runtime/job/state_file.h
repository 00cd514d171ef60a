// SPDX-License-Identifier: Apache-2.0
// States that other workers keep, on their way into worker 0's checkpoint: in a
// file without a name, so that it never has them in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/nameless_file.h"
#include "runtime/data/iterator.h"
#include "runtime/job/status.h"
#include "runtime/train/train_step.h"

namespace mxc::job {

class StateFile {
 public:
  static StatusOr<StateFile> Create();

  Status Append(std::span<const std::byte> bytes);
  // What was appended since the last state is this one.
  void End(const data::Field& state);
  // The states; they keep the file.
  std::vector<runtime::NamedArray> Take() { return std::move(states_); }

 private:
  explicit StateFile(runtime::NamelessFile file)
      : file_(std::make_shared<const runtime::NamelessFile>(std::move(file))) {}

  std::shared_ptr<const runtime::NamelessFile> file_;
  uint64_t begin_ = 0, size_ = 0;
  std::vector<runtime::NamedArray> states_;
};

}  // namespace mxc::job
