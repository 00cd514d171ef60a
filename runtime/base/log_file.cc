// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace mxc::runtime {

StatusOr<LogFile> LogFile::Create(std::string path) {
  Descriptor file(open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  if (file.get() < 0) return SystemError("create", path);
  return LogFile(std::move(path), std::move(file));
}

Status LogFile::Append(Bytes piece) {
  const int64_t end = size_ + static_cast<int64_t>(piece.size());
  while (!piece.empty()) {
    const ssize_t written = write(file_.get(), piece.data(), piece.size());
    if (written >= 0) {
      piece = piece.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      const Status status = SystemError("write", path_);
      (void)!ftruncate(file_.get(), size_);
      return status;
    }
  }
  size_ = end;
  return {};
}

}  // namespace mxc::runtime
