// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

namespace mxc::runtime {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kLimit = uint64_t{1} << 46;  // what can be addressed

using MaybeBytes = std::optional<uint64_t>;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Streams of C's: C++'s would be half of the runtime library.
File OpenToRead(const char* path) {
  return {std::fopen(path, "re"), std::fclose};
}

// The first number of a file; none where it says "max", or is not there.
MaybeBytes FirstNumber(const char* path) {
  const File file = OpenToRead(path);
  unsigned long long number = 0;
  if (file == nullptr || std::fscanf(file.get(), "%llu", &number) != 1) {
    return std::nullopt;
  }
  return number;
}

MaybeBytes FreeOfMachine() {
  const File file = OpenToRead("/proc/meminfo");
  MaybeBytes free;
  char name[64];
  unsigned long long kib = 0;
  while (file != nullptr &&
         std::fscanf(file.get(), "%63s %llu%*[^\n]", name, &kib) == 2) {
    const std::string_view row = name;
    if (row != "MemAvailable:" && row != "SwapFree:") continue;
    free = free.value_or(0) + kib * 1024;
  }
  return free;
}

MaybeBytes Rest(MaybeBytes limit, MaybeBytes used) {
  if (!limit) return std::nullopt;
  return *limit - std::min(*limit, used.value_or(0));
}

MaybeBytes RestOfGroup() {
  return Rest(FirstNumber("/sys/fs/cgroup/memory.max"),
              FirstNumber("/sys/fs/cgroup/memory.current"));
}

MaybeBytes RestOfAddresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  const MaybeBytes pages = FirstNumber("/proc/self/statm");
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return Rest(limit.rlim_cur, pages.value_or(0) * page);
}

}  // namespace

std::optional<uint64_t> AvailableMemory() {
  MaybeBytes least;
  for (const MaybeBytes bytes :
       {FreeOfMachine(), RestOfGroup(), RestOfAddresses()}) {
    if (bytes) least = std::min(least.value_or(*bytes), *bytes);
  }
  return least;
}

Region::~Region() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_size_);
}

StatusOr<Region> Region::Allocate(uint64_t bytes, const char* what) {
  Region region;
  if (bytes == 0) return region;
  const bool huge = bytes >= 2 * kHugePage;
  const uint64_t mapped_size = bytes + (huge ? kHugePage : 0);
  void* mapped = bytes > kLimit
                     ? MAP_FAILED
                     : mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return Fail(StatusCode::kOutOfMemory,
                "no memory for %s: %llu bytes (%.3g GiB)", what,
                static_cast<unsigned long long>(bytes),
                static_cast<double>(bytes) * 0x1p-30);
  }
  region.mapped_ = mapped;
  region.mapped_size_ = mapped_size;
  auto address = reinterpret_cast<uintptr_t>(mapped);
  if (huge) address = (address + kHugePage - 1) & ~(kHugePage - 1);
  region.data_ = reinterpret_cast<std::byte*>(address);
  region.size_ = bytes;
  if (huge) madvise(region.data_, bytes, MADV_HUGEPAGE);  // a wish
  return region;
}

}  // namespace mxc::runtime
