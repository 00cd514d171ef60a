// SPDX-License-Identifier: Apache-2.0
// Which copies into a block's shared memory its products may read: those whose
// thread has fenced since (primitives.def, FenceShared).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxc::runtime {

class SharedWrites {
 public:
  void Clear(const char* memory, size_t bytes) {
    memory_ = memory;
    writes_.assign(bytes / kWord + 1, {});
  }

  // What `thread` has written after so many fences.
  void Note(const void* at, uint32_t bytes, uint32_t thread, uint32_t fences) {
    const auto begin =
        static_cast<size_t>(static_cast<const char*>(at) - memory_);
    for (size_t word = begin / kWord; word < (begin + bytes) / kWord; ++word) {
      if (word < writes_.size()) writes_[word] = {true, thread, fences};
    }
  }

  // fences_of(thread): how often it has fenced by now.
  template <class FencesOf>
  bool IsFenced(uint32_t offset, const FencesOf& fences_of) const {
    const Write& write = writes_[offset / kWord];
    return !write.is_copy || fences_of(write.thread) > write.fences;
  }

 private:
  static constexpr size_t kWord = 4;
  struct Write {
    bool is_copy = false;
    uint32_t thread = 0, fences = 0;
  };

  const char* memory_ = nullptr;
  std::vector<Write> writes_;
};

}  // namespace mxc::runtime
