// SPDX-License-Identifier: Apache-2.0
// Mapped bytes of which some may still be on their way from a server.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/base/arriving_file.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::data {

class Arriving {
 public:
  Arriving() = default;  // all is there
  Arriving(std::shared_ptr<runtime::ArrivingFile> file, runtime::Bytes mapped)
      : file_(std::move(file)), begin_(mapped.data()) {}

  bool complete() const { return file_ == nullptr || file_->complete(); }
  // Waits for a part of the mapped bytes; whoever reads it without has zeros.
  runtime::Status Await(runtime::Bytes part) const {
    if (complete()) return {};
    return file_->Await(Offset(part), part.size());
  }
  // Says that it will be awaited. Returns how many bytes are asked for because of
  // it.
  uint64_t WillRead(runtime::Bytes part) const {
    return complete() ? 0 : file_->WillAwait(Offset(part), part.size());
  }

 private:
  uint64_t Offset(runtime::Bytes part) const {
    return static_cast<uint64_t>(part.data() - begin_);
  }

  std::shared_ptr<runtime::ArrivingFile> file_;
  const std::byte* begin_ = nullptr;
};

}  // namespace mxc::data
