// SPDX-License-Identifier: Apache-2.0
// Large, zeroed memory straight from the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/base/status.h"

namespace mxc::runtime {

// How many bytes a process can still fill, as far as the system says: memory
// and swap that are free, within the limits of the control group and of the
// address space. nullopt: it does not say.
std::optional<uint64_t> AvailableMemory();

class Region {
 public:
  Region() = default;
  Region(Region&& from) noexcept { Swap(from); }
  Region& operator=(Region&& from) noexcept {
    Swap(from);
    return *this;
  }
  ~Region();

  // Zeroed and aligned to a page; where it pays, to a huge page, which the
  // system is asked to use. `what` is for the message: "the arena".
  static StatusOr<Region> Allocate(uint64_t bytes, const char* what);

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  void Swap(Region& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_size_, other.mapped_size_);
  }

  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  void* mapped_ = nullptr;  // what to give back
  uint64_t mapped_size_ = 0;
};

}  // namespace mxc::runtime
