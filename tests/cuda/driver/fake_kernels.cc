// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda/driver/emulated_block.h"
#include "tests/cuda/driver/fake_cuda.h"

namespace mxc::runtime {

struct CUmod_st {
  int file;  // while it is open, its number names the library
  void* library;
};

namespace {

// 4,096 bytes of them, as drivers have it before CUDA 12.1.
constexpr uint32_t kMostParameters = 4096 / sizeof(CudaAddress);

// Of sm_90.
constexpr int kSharedBytesOfDevice = 227 << 10;

[[noreturn]] void Fail(uint32_t block, const std::string& what) {
  std::fprintf(stderr, "fake CUDA: block %u: %s\n", block, what.c_str());
  std::abort();
}

void CheckAccess(mxc_emulated_thread* thread, const void* address,
                 uint32_t bytes, uint32_t alignment) {
  const auto begin = reinterpret_cast<CudaAddress>(address);
  const bool inside = DeviceMemory().Contains(begin, bytes);
  if (inside && begin % alignment == 0) return;
  char text[100];
  std::snprintf(text, sizeof text, "thread %u: %u bytes at %p are %s",
                thread->thread, bytes, address,
                inside ? "not aligned" : "outside of all memory");
  Fail(thread->block, text);
}

void RunGrid(const EmulatedBlock::Launch& launch, uint32_t blocks) {
  thread_local EmulatedBlock block(CheckAccess, nullptr);
  std::vector<uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  if (launch.seed != 0) {
    std::shuffle(order.begin(), order.end(), std::mt19937_64(launch.seed));
  }
  for (const uint32_t number : order) {
    const std::string wrong = block.Run(launch, number);
    if (!wrong.empty()) Fail(number, wrong);
  }
}

// What blocks of the function may share.
std::mutex shared_bytes_mutex;
std::map<CudaFunction, unsigned> shared_bytes_of;

unsigned SharedBytesOf(CudaFunction function) {
  const std::lock_guard lock(shared_bytes_mutex);
  const auto found = shared_bytes_of.find(function);
  return found == shared_bytes_of.end() ? kCudaSharedBytes : found->second;
}

// Bytes of an ELF file; 0 if it is none for this processor.
size_t ElfBytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const bool elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  if (!elf || header.e_machine != EM_X86_64) return 0;
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace
// What follows is C.

MXC_FAKE(cuModuleLoadDataEx, (CudaModuleHandle * module, const void* image,
                              unsigned count, int* options, void** values)) {
  const auto value_of = [&](int option) -> void* {
    const int* found = std::find(options, options + count, option);
    return found == options + count ? nullptr : values[found - options];
  };
  const auto refuse = [&](CudaResult result, const char* why) {
    const auto room = reinterpret_cast<uintptr_t>(value_of(kCudaErrorLogBytes));
    if (room > 0) {
      snprintf(static_cast<char*>(value_of(kCudaErrorLog)), room,
               "ptxas fatal   : %s\nptxas fatal   : aborted", why);
    }
    return result;
  };
  if (Fails()) return refuse(kUnknown, "the assembler fails");
  const size_t bytes = ElfBytes(image);
  if (bytes == 0) return refuse(kInvalidImage, "not a program");
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  if (write(file, image, bytes) != static_cast<ssize_t>(bytes)) {
    close(file);
    return kCudaOutOfMemory;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    close(file);
    return kInvalidImage;
  }
  *module = new CUmod_st{file, library};
  return 0;
}
MXC_FAKE(cuModuleUnload, (CudaModuleHandle module)) {
  dlclose(module->library);
  close(module->file);
  delete module;
  return 0;
}
MXC_FAKE(cuModuleGetFunction,
         (CudaFunction * function, CudaModuleHandle module, const char* name)) {
  *function = static_cast<CudaFunction>(dlsym(module->library, name));
  return *function != nullptr ? 0 : kNotFound;
}
MXC_FAKE(cuFuncSetAttribute,
         (CudaFunction function, int attribute, int value)) {
  if (Fails()) return kUnknown;
  const bool possible = attribute == kCudaMostSharedBytes && value >= 0 &&
                        value <= kSharedBytesOfDevice;
  if (!possible) return kInvalidValue;
  const std::lock_guard lock(shared_bytes_mutex);
  shared_bytes_of[function] = static_cast<unsigned>(value);
  return 0;
}
MXC_FAKE(cuLaunchKernel,
         (CudaFunction function, unsigned grid, unsigned, unsigned,
          unsigned block, unsigned, unsigned, unsigned shared_bytes,
          CudaStreamHandle stream, void** parameters, void**)) {
  const auto* kernel = reinterpret_cast<const mxc_emulated_kernel*>(function);
  if (Fails()) return kUnknown;
  if (kernel->argument_count > kMostParameters) return kInvalidImage;
  if (shared_bytes > SharedBytesOf(function)) return kInvalidValue;
  static const uint64_t skipped = Setting("MXC_FAKE_SKIP");
  static std::atomic<uint64_t> launches = 0;
  if (++launches == skipped) return 0;
  std::vector<CudaAddress> values;
  for (uint32_t i = 0; i < kernel->argument_count; ++i) {
    values.push_back(*static_cast<const CudaAddress*>(parameters[i]));
  }
  return Add(stream, [=]() mutable {
    std::vector<void*> arguments;
    for (CudaAddress& value : values) arguments.push_back(&value);
    RunGrid({.kernel = kernel,
             .arguments = arguments.data(),
             .threads = block,
             .shared_bytes = shared_bytes,
             .seed = Setting("MXC_FAKE_SEED")},
            grid);
    return 0;
  });
}

}  // namespace mxc::runtime
