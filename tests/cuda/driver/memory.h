// SPDX-License-Identifier: Apache-2.0
// Memory of a device that is not there: the host's, which the host may not
// touch.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "runtime/device/cuda/driver.h"

namespace mxc::runtime {

inline constexpr CudaResult kInvalidValue = 1;
inline constexpr size_t kPage = 4096;

inline size_t WholePages(size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

class Memory {
 public:
  CudaResult Allocate(CudaAddress* memory, size_t bytes) {
    void* at = mmap(nullptr, WholePages(bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return kCudaOutOfMemory;
    std::memset(at, 0xff, bytes);
    *memory = reinterpret_cast<CudaAddress>(at);
    pieces_[*memory] = bytes;
    Protect(*memory, bytes, open_ ? PROT_READ | PROT_WRITE : PROT_NONE);
    return 0;
  }

  CudaResult Release(CudaAddress memory) {
    const auto piece = pieces_.find(memory);
    if (piece == pieces_.end()) return kInvalidValue;
    munmap(reinterpret_cast<void*>(memory), WholePages(piece->second));
    pieces_.erase(piece);
    last_ = {0, 0};
    return 0;
  }

  bool Contains(CudaAddress begin, size_t bytes) const {
    if (begin >= last_.first && begin + bytes <= last_.second) return true;
    auto piece = pieces_.upper_bound(begin);
    if (piece == pieces_.begin()) return false;
    --piece;
    const std::pair found(piece->first, piece->first + piece->second);
    if (begin + bytes > found.second) return false;
    last_ = found;
    return true;
  }

  // While `work` runs the memory can be touched.
  CudaResult Open(const std::function<CudaResult()>& work) {
    const bool was_open = std::exchange(open_, true);
    if (!was_open) ProtectAll(PROT_READ | PROT_WRITE);
    const CudaResult result = work();
    open_ = was_open;
    if (!was_open) ProtectAll(PROT_NONE);
    return result;
  }

 private:
  static void Protect(CudaAddress begin, size_t bytes, int protection) {
    mprotect(reinterpret_cast<void*>(begin), WholePages(bytes), protection);
  }
  void ProtectAll(int protection) const {
    for (const auto& [begin, bytes] : pieces_) {
      Protect(begin, bytes, protection);
    }
  }

  std::map<CudaAddress, size_t> pieces_;
  // Begin and end of the one that was asked for last.
  mutable std::pair<CudaAddress, CudaAddress> last_ = {0, 0};
  bool open_ = false;
};

}  // namespace mxc::runtime
