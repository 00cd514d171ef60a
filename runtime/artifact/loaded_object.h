// SPDX-License-Identifier: Apache-2.0
// The segments of a shared object in memory, ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/artifact/shared_object.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// What a dynamic linker does for an object that needs nobody and initializes
// nothing (shared_object.h): segments get their places and rights, and the words
// of one table the address that all of it got. Each load is one of its own,
// whatever the file is called. Gives the memory back when it goes.
class LoadedObject {
 public:
  // `file` begins with the bytes that `object` was read from: its pages are
  // mapped, so that processes share them and profilers find the names. If the
  // system forbids the file's code to run (noexec), the status says so. Null:
  // the bytes are copied.
  static StatusOr<LoadedObject> Load(const SharedObject& object,
                                     const Descriptor* file);

  LoadedObject() = default;
  LoadedObject(LoadedObject&& from) noexcept
      : begin_(std::exchange(from.begin_, nullptr)),
        size_(std::exchange(from.size_, 0)) {}
  LoadedObject& operator=(LoadedObject&& from) noexcept {
    std::swap(begin_, from.begin_);
    std::swap(size_, from.size_);
    return *this;
  }
  ~LoadedObject();

  // Where the object's address 0 is.
  std::byte* address() const { return begin_; }

 private:
  // Memory for all segments, which nobody can touch yet.
  static StatusOr<LoadedObject> Reserve(const SharedObject& object);
  Status MapSegment(const Elf64_Phdr& segment, const Descriptor& file);
  Status CopySegment(const SharedObject& object, const Elf64_Phdr& segment);
  Status Relocate(const SharedObject& object);
  // Takes the right to write from what nobody writes after Relocate.
  Status Protect(const SharedObject& object);

  std::byte* begin_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace mxc::runtime
