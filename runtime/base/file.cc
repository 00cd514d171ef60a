// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "runtime/base/pages.h"
#include "runtime/base/remote_files.h"

namespace mxc::runtime {

Status SystemError(const char* what, const std::string& path) {
  const int error = errno;
  const StatusCode code = error == ENOENT   ? StatusCode::kNotFound
                          : error == ENOMEM ? StatusCode::kOutOfMemory
                                            : StatusCode::kIo;
  return Fail(code, "cannot %s '%s': %s", what, path.c_str(),
              std::strerror(error));
}

bool Descriptor::Close() {
  return fd_ < 0 || close(std::exchange(fd_, -1)) == 0;
}

StatusOr<Descriptor> OpenFile(const std::string& name) {
  MXC_RT_ASSIGN(const FilePlace place, PlaceOf(name));
  std::string path = place.path;
  if (place.remote != nullptr) {
    MXC_RT_ASSIGN(path, place.remote->Fetch(name));
  }
  // O_NONBLOCK: opening a pipe does not wait for its writer.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return SystemError("open", path);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return SystemError("open", path);
  if (!S_ISREG(status.st_mode)) {
    return Fail(StatusCode::kIo, "'%s' is %s, expected a file", path.c_str(),
                S_ISDIR(status.st_mode)    ? "a folder"
                : S_ISFIFO(status.st_mode) ? "a pipe"
                                           : "a device or a socket");
  }
  return file;
}

StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  StatusOr<Descriptor> file = OpenFile(path);
  if (!file.ok()) return file.status();
  return Map(*file, path);
}

StatusOr<MappedFile> MappedFile::Map(const Descriptor& file,
                                     const std::string& path) {
  struct stat status;
  if (fstat(file.get(), &status) != 0) return SystemError("read", path);
  MappedFile mapped;
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return mapped;
  void* address =
      mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), /*offset=*/0);
  if (address == MAP_FAILED) return SystemError("map", path);
  mapped.owner_ = std::shared_ptr<const void>(
      address, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  mapped.bytes_ = Bytes(static_cast<const std::byte*>(address), size);
  return mapped;
}

StatusOr<std::vector<std::byte>> ReadWholeFile(const std::string& path,
                                               uint64_t most) {
  const StatusOr<Descriptor> file = OpenFile(path);
  if (!file.ok()) return file.status();
  struct stat status;
  if (fstat(file->get(), &status) != 0) return SystemError("read", path);
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > most) {
    return Fail(StatusCode::kCorrupt, "'%s' has more than %llu bytes",
                path.c_str(), static_cast<unsigned long long>(most));
  }
  std::vector<std::byte> content(size);
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t count =
        read(file->get(), content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("read", path);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  content.resize(done);
  return content;
}

void MappedFile::Forget(Bytes part) const {
  const std::less_equal<const std::byte*> not_behind;
  if (!not_behind(bytes_.data(), part.data()) ||
      !not_behind(part.data() + part.size(), bytes_.data() + bytes_.size())) {
    return;
  }
  ReleasePages(part);
}

}  // namespace mxc::runtime
