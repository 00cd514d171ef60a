// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mxc::runtime {
namespace {

constexpr size_t kBufferBytes = 1 << 16;

Status SystemError(const char* what, const std::string& path) {
  const int error = errno;
  const StatusCode code = error == ENOENT   ? StatusCode::kNotFound
                          : error == ENOMEM ? StatusCode::kOutOfMemory
                                            : StatusCode::kIo;
  return Fail(code, "cannot %s '%s': %s", what, path.c_str(),
              std::strerror(error));
}

// A rename is lasting once its folder has been synced.
void SyncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor fd(open(folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() >= 0) fsync(fd.get());
}

}  // namespace

bool Descriptor::Close() {
  return fd_ < 0 || close(std::exchange(fd_, -1)) == 0;
}

StatusOr<Descriptor> OpenFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe does not wait for its writer.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return SystemError("open", path);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return SystemError("open", path);
  if (!S_ISREG(status.st_mode)) {
    return Fail(StatusCode::kIo, "'%s' is not a regular file", path.c_str());
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

void MappedFile::Forget(Bytes part) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t begin = (address + page - 1) / page * page;
  const uintptr_t end = (address + part.size()) / page * page;
  if (begin >= end) return;
  // Where the system refuses, the pages stay: slower, not wrong.
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  // No other writer, of this or of another process, has this name.
  temporary_ = Format("%s.%d.%p", path_.c_str(), static_cast<int>(getpid()),
                      static_cast<const void*>(this));
  file_ = Descriptor(
      open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file_.get() < 0) status_ = SystemError("create", path_);
}

FileWriter::~FileWriter() {
  if (file_.get() < 0) return;
  file_.Close();
  unlink(temporary_.c_str());
}

void FileWriter::Append(Bytes bytes) {
  if (followed_ != nullptr) followed_->Add(bytes);
  if (buffer_.size() + bytes.size() > kBufferBytes) Flush();
  if (bytes.size() > kBufferBytes) return Write(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void FileWriter::Append(const std::string& text) {
  Append(std::as_bytes(std::span(text)));
}

Status FileWriter::Commit(Sync sync) {
  Flush();
  if (!status_.ok()) return status_;
  const bool saved = sync == Sync::kNo || fsync(file_.get()) == 0;
  if (!file_.Close() || !saved ||
      std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    status_ = SystemError("write", path_);
    unlink(temporary_.c_str());
    return status_;
  }
  if (sync == Sync::kYes) SyncFolderOf(path_);
  return {};
}

void FileWriter::Flush() {
  Write(buffer_);
  buffer_.clear();
}

void FileWriter::Write(Bytes bytes) {
  while (status_.ok() && !bytes.empty()) {
    const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      status_ = SystemError("write", path_);
    }
  }
}

}  // namespace mxc::runtime
