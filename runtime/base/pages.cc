// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/pages.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace mxc::runtime {

namespace {

// Of all pages that lie within the bytes. Where the system refuses, they stay as
// they are: slower, or more of them, not wrong.
void Advise(std::span<const std::byte> bytes, int advice) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = (address + page - 1) / page * page;
  const uintptr_t end = (address + bytes.size()) / page * page;
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, advice);
  }
}

}  // namespace

void ReleasePages(std::span<const std::byte> bytes) {
  Advise(bytes, MADV_DONTNEED);
}

void UseSmallPages(std::span<const std::byte> bytes) {
  Advise(bytes, MADV_NOHUGEPAGE);
}

void ReleaseFreedMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace mxc::runtime
