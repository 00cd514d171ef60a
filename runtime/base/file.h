// SPDX-License-Identifier: Apache-2.0
// Files as bytes, read or mapped; file_writer.h writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"
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
  bool Close();  // false where the system lost what was written; sets errno

 private:
  int fd_ = -1;
};

// "cannot WHAT 'PATH': " and what errno says.
Status SystemError(const char* what, const std::string& path);

// Opens a regular file, or an object's copy (remote_files.h), for reading; a
// directory, a pipe or a device is refused.
StatusOr<Descriptor> OpenFile(const std::string& name);

// The bytes of a regular file, mapped read-only and shared with every process
// that maps it; unmapped with the last copy. Reading a file that was truncated
// since raises SIGBUS: replace files by renaming, as FileWriter does.
class MappedFile {
 public:
  static StatusOr<MappedFile> Open(const std::string& path);
  // `path` is for messages.
  static StatusOr<MappedFile> Map(const Descriptor& file,
                                  const std::string& path);

  Bytes bytes() const { return bytes_; }
  // Gives the memory of all pages that lie within `part` back; the next read of
  // them reads the file again. Bytes outside of the file are left alone.
  void Forget(Bytes part) const;
  // Keeps the mapping alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  Bytes bytes_;
};

// The content of a regular file, copied: nothing that becomes of the file
// meanwhile does harm. Refuses one of more than `most` bytes.
StatusOr<std::vector<std::byte>> ReadWholeFile(const std::string& path,
                                               uint64_t most);

}  // namespace mxc::runtime
