// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/other_processor.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "ir/support/check.h"

namespace mxc::test {
namespace {

// Where nothing else is, on processors with 47 bits of address at least.
constexpr uintptr_t kAddress = uintptr_t{0x2000} << 32;
constexpr size_t kBytes = size_t{1} << 30;

}  // namespace

OtherProcessor* OtherProcessor::Get() {
  static OtherProcessor* const other = []() -> OtherProcessor* {
    const char* runner = std::getenv("MXC_TEST_RUNNER");
    return runner == nullptr ? nullptr : Start(runner);
  }();
  return other;
}

OtherProcessor* OtherProcessor::Start(const std::string& runner) {
  char path[] = "/dev/shm/mxc_processor_XXXXXX";
  const int file = mkstemp(path);
  MXC_CHECK(file >= 0 && ftruncate(file, kBytes) == 0);
  auto* const other = new OtherProcessor(runner, path, file);
  // An answer says that it has opened the file.
  other->Protect(other->memory_, 4096, PROT_READ | PROT_WRITE);
  unlink(path);
  close(file);
  return other;
}

OtherProcessor::OtherProcessor(const std::string& runner,
                               const std::string& path, int file)
    : memory_(static_cast<std::byte*>(mmap(
          reinterpret_cast<void*>(kAddress), kBytes, PROT_READ | PROT_WRITE,
          MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0))),
      runner_(fmt::format("{} {} {:#x} {}", runner, path, kAddress, kBytes)) {
  MXC_CHECK(memory_ != MAP_FAILED);
}

std::byte* OtherProcessor::Allocate(size_t bytes) {
  if (in_use_ == 0) used_ = 0;
  MXC_CHECK(used_ + bytes <= kBytes, "{} bytes", bytes);
  std::byte* memory = memory_ + used_;
  used_ += bytes;
  in_use_ += bytes;
  return memory;
}

void OtherProcessor::Free(std::byte* memory, size_t bytes) {
  Protect(memory, bytes, PROT_READ | PROT_WRITE);
  in_use_ -= bytes;
}

void OtherProcessor::Protect(std::byte* address, size_t bytes, int allowed) {
  MXC_CHECK(mprotect(address, bytes, allowed) == 0);
  MXC_CHECK(Ask(fmt::format("protect {} {} {}", fmt::ptr(address), bytes,
                            allowed)) == 0);
}

int OtherProcessor::Load(const std::string& library) {
  return Ask("load " + library);
}

void OtherProcessor::Run(int kernel, const std::vector<void*>& operands,
                         const Tasks& tasks, void* scratch) {
  CheckShared(scratch);
  std::string command =
      fmt::format("run {} {} {} {} {} {:#x}", kernel, used_, tasks.begin,
                  tasks.end, tasks.step, reinterpret_cast<uintptr_t>(scratch));
  for (const void* operand : operands) {
    CheckShared(operand);
    command += fmt::format(" {}", fmt::ptr(operand));
  }
  MXC_CHECK(Ask(command) == 0, "'{}' was refused", command);
}

void OtherProcessor::CheckShared(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  MXC_CHECK(at == nullptr || (memory_ <= at && at <= memory_ + used_),
            "{} is not in the memory that the other processor shares",
            fmt::ptr(address));
}

int OtherProcessor::Ask(const std::string& command) {
  return std::stoi(runner_.Ask(command));
}

}  // namespace mxc::test
