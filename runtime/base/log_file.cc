// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/destination.h"

namespace mxc::runtime {

StatusOr<LogFile> LogFile::Create(std::string path) {
  return Open(std::move(path), O_EXCL);
}

StatusOr<LogFile> LogFile::Continue(std::string path) {
  return Open(std::move(path), 0);
}

StatusOr<LogFile> LogFile::Open(std::string path, int flags) {
  MXC_RT_RETURN_IF_ERROR(MakeFoldersAround(path));
  Descriptor file(open(
      path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666));
  if (file.get() < 0) return SystemError("create", path);
  LogFile log(std::move(path), std::move(file));
  log.size_ = lseek(log.file_.get(), 0, SEEK_END);
  return log;
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

Status LogFile::Sync() {
  if (fdatasync(file_.get()) == 0) return {};
  return SystemError("write", path_);
}

}  // namespace mxc::runtime
