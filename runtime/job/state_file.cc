// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/state_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace mxc::job {

StatusOr<StateFile> StateFile::Create() {
  MXC_RT_ASSIGN(runtime::NamelessFile file, runtime::NamelessFile::Create());
  return StateFile(std::move(file));
}

Status StateFile::Append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t size = write(file_->descriptor(), bytes.data(), bytes.size());
    if (size >= 0) {
      size_ += static_cast<uint64_t>(size);
      bytes = bytes.subspan(static_cast<size_t>(size));
    } else if (errno != EINTR) {
      return Fail(
          StatusCode::kIo,
          "cannot write what other workers keep to a temporary file: %s",
          std::strerror(errno));
    }
  }
  return {};
}

void StateFile::End(const data::Field& state) {
  runtime::Array array{state.type, state.shape, nullptr};
  array.in_file = std::make_shared<const runtime::FilePiece>(
      runtime::FilePiece{file_, begin_, size_ - begin_});
  states_.push_back({state.name, std::move(array)});
  begin_ = size_;
}

}  // namespace mxc::job
