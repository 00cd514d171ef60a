// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/gathered_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "runtime/base/destination.h"
#include "runtime/base/random_number.h"

namespace mxc::runtime {

StatusOr<GatheredFile> GatheredFile::Create(std::string path) {
  MXC_RT_RETURN_IF_ERROR(MakeFoldersAround(path));
  GatheredFile made(path,
                    path + "." + std::to_string(RandomNumber()) + ".part");
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  made.file_ = Descriptor(open(folder.empty() ? "." : folder.c_str(),
                               O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (made.file_.get() >= 0 && access(made.Handle().c_str(), F_OK) == 0) {
    return made;
  }
  made.file_ = Descriptor(open(made.temporary_.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (made.file_.get() < 0) return SystemError("create", made.temporary_);
  made.named_ = true;
  return made;
}

GatheredFile::~GatheredFile() {
  if (named_) unlink(temporary_.c_str());
}

std::string GatheredFile::Handle() const {
  return Format("/proc/self/fd/%d", file_.get());
}

StatusOr<Descriptor> GatheredFile::OpenToRead() const {
  const std::string path = named_ ? temporary_ : Handle();
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("open", temporary_);
  return file;
}

Status GatheredFile::Commit() {
  if (fdatasync(file_.get()) != 0) return SystemError("write", temporary_);
  if (!named_ && linkat(AT_FDCWD, Handle().c_str(), AT_FDCWD,
                        temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return SystemError("create", temporary_);
  }
  named_ = true;
  if (!file_.Close()) return SystemError("write", temporary_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return SystemError("create", path_);
  }
  named_ = false;
  return {};
}

}  // namespace mxc::runtime
