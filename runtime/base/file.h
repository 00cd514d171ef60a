// SPDX-License-Identifier: Apache-2.0
// Files as bytes: read, mapped, or replaced as a whole by writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/checksum.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& from) noexcept : fd_(std::exchange(from.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& from) noexcept {
    std::swap(fd_, from.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int get() const { return fd_; }
  bool Close();  // false where the system lost what was written

 private:
  int fd_ = -1;
};

// Opens a regular file for reading; a directory, a pipe or a device is refused.
StatusOr<Descriptor> OpenFile(const std::string& path);

// The bytes of a regular file, mapped read-only and shared with every process
// that maps it; unmapped with the last copy. A file that somebody cuts while it
// is mapped raises SIGBUS: replace files by renaming, as FileWriter does.
class MappedFile {
 public:
  static StatusOr<MappedFile> Open(const std::string& path);
  // `path` is for messages.
  static StatusOr<MappedFile> Map(const Descriptor& file,
                                  const std::string& path);

  Bytes bytes() const { return bytes_; }
  // Gives the memory of all pages that lie within `part` back; who reads them
  // again reads the file.
  static void Forget(Bytes part);
  // Keeps the mapping alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  Bytes bytes_;
};

// Writes to a temporary file beside `path`; Commit syncs it and renames it over
// `path`, so that nobody ever sees half a file. Without Commit nothing remains.
// Who checks what he reads and can make it again may leave the syncs out: after
// a crash of the system the file may be damaged.
class FileWriter {
 public:
  explicit FileWriter(std::string path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // The first failure is kept and returned by Commit.
  void Append(Bytes bytes);
  void Append(const std::string& text);
  template <class T>
  void AppendScalar(T value) {
    Append(std::as_bytes(std::span(&value, 1)));
  }
  enum class Sync { kYes, kNo };
  Status Commit(Sync sync = Sync::kYes);

  // Adds to `checksum` what is appended from now on; null ends it.
  void Follow(RunningChecksum* checksum) { followed_ = checksum; }

 private:
  void Flush();
  void Write(Bytes bytes);

  std::string path_, temporary_;
  Descriptor file_;
  std::vector<std::byte> buffer_;
  RunningChecksum* followed_ = nullptr;
  Status status_;
};

}  // namespace mxc::runtime
