// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/nameless_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>

namespace mxc::runtime {
namespace {

const char* FolderForTemporaryFiles() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != 0 ? folder : "/tmp";
}

// Loads code as any file does.
bool MayHoldCode(const Descriptor& file) {
  struct statvfs system;
  return file.get() >= 0 && fstatvfs(file.get(), &system) == 0 &&
         (system.f_flag & ST_NOEXEC) == 0;
}

}  // namespace

StatusOr<NamelessFile> NamelessFile::Create() {
  Descriptor file(open(FolderForTemporaryFiles(),
                       O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!MayHoldCode(file)) return CreateInMemory();
  return Over(std::move(file));
}

StatusOr<NamelessFile> NamelessFile::CreateInMemory() {
  return Over(Descriptor(memfd_create("mxc", MFD_CLOEXEC)));
}

StatusOr<NamelessFile> NamelessFile::Over(Descriptor file) {
  if (file.get() < 0) return SystemError("create", "a temporary file");
  NamelessFile nameless(std::move(file));
  if (access(nameless.path().c_str(), F_OK) != 0) {
    return Fail(StatusCode::kUnsupported,
                "a temporary file needs /proc, which is not mounted");
  }
  return nameless;
}

std::string NamelessFile::path() const {
  return Format("/proc/self/fd/%d", file_.get());
}

Status NamelessFile::KeepAtExec() {
  if (fcntl(file_.get(), F_SETFD, 0) == 0) return {};
  return SystemError("keep", path());
}

}  // namespace mxc::runtime
