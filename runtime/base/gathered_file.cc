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
  std::string temporary = path + "." + std::to_string(RandomNumber()) + ".part";
  Descriptor file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return SystemError("create", temporary);
  return GatheredFile(std::move(path), std::move(temporary), std::move(file));
}

GatheredFile::~GatheredFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status GatheredFile::Commit() {
  const bool synced = fdatasync(file_.get()) == 0;
  if (!file_.Close() || !synced) return SystemError("write", temporary_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return SystemError("create", path_);
  }
  temporary_.clear();
  return {};
}

}  // namespace mxc::runtime
