// SPDX-License-Identifier: Apache-2.0
// The weights section: constants in the layouts that the kernels read.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// The bytes of a row-major tensor under a layout; all padding is zero.
std::vector<std::byte> LayOut(const Tensor& tensor, const Layout& layout);

// Constants of all entries, equal bytes stored once, each from a multiple of
// 64. Lays a constant out when it is added, so one is in memory at a time
// besides the section.
class WeightsSection {
 public:
  // The offset of the constant in the section.
  uint64_t Add(const Buffer& constant);
  const std::vector<std::byte>& bytes() const& { return bytes_; }
  std::vector<std::byte> bytes() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  // By checksum and size; the bytes are compared before they are shared.
  std::multimap<std::pair<uint64_t, uint64_t>, uint64_t> stored_;
};

}  // namespace mxc
