// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 for machines without a GPU: as much of the driver's API as the
// runtime calls. "Device code" is an ELF shared object for this processor
// (codegen/cuda/emulated_thread.h).
//
// It is as unhelpful as CUDA may be. What is put into a stream begins when
// somebody waits for it. Memory of the device cannot be touched while nothing
// of the device runs, begins as NaN, and an access of a kernel that is outside
// of it, or not aligned as the kernel says, ends the process with a sentence.
// MXC_FAKE_SEED=N: blocks run in another order. MXC_FAKE_FAIL=N: the N-th call
// fails.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/emulated_thread.h"
#include "runtime/device/cuda/driver.h"
#include "tests/cuda/driver/memory.h"

namespace mxc::runtime {
namespace {

constexpr CudaResult kInvalidImage = 200, kNotFound = 500, kUnknown = 999;

uint64_t Setting(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

// True for the call that is to fail.
bool Fails() {
  static const uint64_t failing = Setting("MXC_FAKE_FAIL");
  static uint64_t calls = 0;
  return ++calls == failing;
}

Memory& DeviceMemory() {
  static Memory memory;
  return memory;
}

using Work = std::function<CudaResult()>;

void CheckAccess(mxc_emulated_thread* thread, const void* address,
                 uint32_t bytes, uint32_t alignment) {
  const auto begin = reinterpret_cast<CudaAddress>(address);
  const bool inside = DeviceMemory().Contains(begin, bytes);
  if (inside && begin % alignment == 0) return;
  std::fprintf(stderr,
               "fake CUDA: block %u, thread %u: %u bytes at %p are %s\n",
               thread->block, thread->thread, bytes, address,
               inside ? "not aligned" : "outside of all memory");
  std::abort();
}

// Each thread of a block by itself: kernels have no way to wait.
void RunGrid(const mxc_emulated_kernel& kernel, uint32_t blocks,
             uint32_t threads, void* const* arguments) {
  std::vector<uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  if (const uint64_t seed = Setting("MXC_FAKE_SEED"); seed != 0) {
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  }
  mxc_emulated_thread thread = {0, 0, CheckAccess};
  for (const uint32_t block : order) {
    thread.block = block;
    for (uint32_t t = 0; t < threads; ++t) {
      thread.thread = t;
      kernel.run(&thread, arguments);
    }
  }
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

struct CUstream_st {
  std::deque<Work> work;
  std::vector<Work>* captured = nullptr;
};
struct CUevent_st {
  CUstream_st* stream = nullptr;
};
struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st {
  std::vector<Work> work;
};
struct CUmod_st {
  int file;  // while it is open, its number names the library
  void* library;
};

namespace {

// The graph that is captured, and the streams that it is captured from.
CUgraph_st* capturing = nullptr;
std::vector<CUstream_st*> captured;

void Capture(CUstream_st* stream) {
  stream->captured = &capturing->work;
  captured.push_back(stream);
}

CudaResult Add(CUstream_st* stream, Work work) {
  if (stream->captured != nullptr) {
    stream->captured->push_back(std::move(work));
  } else {
    stream->work.push_back(std::move(work));
  }
  return 0;
}

CudaResult Drain(CUstream_st* stream) {
  return DeviceMemory().Open([&] {
    while (!stream->work.empty()) {
      const Work work = std::move(stream->work.front());
      stream->work.pop_front();
      const CudaResult result = work();
      if (result != 0) return result;
    }
    return 0;
  });
}

CudaResult Move(CudaAddress memory, size_t bytes,
                const std::function<void()>& move) {
  if (!DeviceMemory().Contains(memory, bytes)) return kInvalidValue;
  move();
  return 0;
}

void* At(CudaAddress address) { return reinterpret_cast<void*>(address); }

}  // namespace
}  // namespace mxc::runtime

using namespace mxc::runtime;  // what follows is C

#define MXC_FAKE(symbol, parameters) \
  extern "C" [[gnu::visibility("default")]] CudaResult symbol parameters

MXC_FAKE(cuInit, (unsigned)) { return Fails() ? kUnknown : 0; }
MXC_FAKE(cuDeviceGet, (CudaOrdinal * device, int)) {
  *device = 0;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDeviceGetAttribute, (int* value, int attribute, CudaOrdinal)) {
  *value = attribute == kCudaCapabilityMajor ? 9 : 0;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuDevicePrimaryCtxRetain, (CudaContext * context, CudaOrdinal)) {
  *context = nullptr;
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuCtxSetCurrent, (CudaContext)) { return 0; }
MXC_FAKE(cuGetErrorString, (CudaResult error, const char** text)) {
  *text = error == kCudaOutOfMemory ? "out of memory"
          : error == kInvalidValue  ? "invalid argument"
          : error == kInvalidImage  ? "device kernel image is invalid"
          : error == kNotFound      ? "named symbol not found"
                                    : "unknown error";
  return 0;
}

MXC_FAKE(cuMemAlloc_v2, (CudaAddress * memory, size_t bytes)) {
  return Fails() ? kCudaOutOfMemory : DeviceMemory().Allocate(memory, bytes);
}
MXC_FAKE(cuMemFree_v2, (CudaAddress memory)) {
  return DeviceMemory().Release(memory);
}
MXC_FAKE(cuMemAllocHost_v2, (void** memory, size_t bytes)) {
  if (Fails()) return kCudaOutOfMemory;
  *memory = std::aligned_alloc(kPage, WholePages(bytes));
  return *memory != nullptr ? 0 : kCudaOutOfMemory;
}
MXC_FAKE(cuMemFreeHost, (void* memory)) {
  std::free(memory);
  return 0;
}
MXC_FAKE(cuMemsetD8_v2,
         (CudaAddress memory, unsigned char value, size_t bytes)) {
  if (Fails()) return kUnknown;
  return DeviceMemory().Open([=] {
    return Move(memory, bytes, [=] { std::memset(At(memory), value, bytes); });
  });
}
MXC_FAKE(cuMemcpyHtoD_v2, (CudaAddress to, const void* from, size_t bytes)) {
  if (Fails()) return kUnknown;
  return DeviceMemory().Open([=] {
    return Move(to, bytes, [=] { std::memcpy(At(to), from, bytes); });
  });
}
MXC_FAKE(cuMemcpyDtoH_v2, (void* to, CudaAddress from, size_t bytes)) {
  if (Fails()) return kUnknown;
  return DeviceMemory().Open([=] {
    return Move(from, bytes, [=] { std::memcpy(to, At(from), bytes); });
  });
}
MXC_FAKE(cuMemcpyHtoDAsync_v2, (CudaAddress to, const void* from, size_t bytes,
                                CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    return Move(to, bytes, [=] { std::memcpy(At(to), from, bytes); });
  });
}
MXC_FAKE(cuMemcpyDtoHAsync_v2,
         (void* to, CudaAddress from, size_t bytes, CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    return Move(from, bytes, [=] { std::memcpy(to, At(from), bytes); });
  });
}
MXC_FAKE(cuMemcpyDtoDAsync_v2, (CudaAddress to, CudaAddress from, size_t bytes,
                                CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    if (!DeviceMemory().Contains(from, bytes)) return kInvalidValue;
    return Move(to, bytes, [=] { std::memmove(At(to), At(from), bytes); });
  });
}

MXC_FAKE(cuStreamCreate, (CudaStreamHandle * stream, unsigned)) {
  if (Fails()) return kUnknown;
  *stream = new CUstream_st;
  return 0;
}
MXC_FAKE(cuStreamDestroy_v2, (CudaStreamHandle stream)) {
  delete stream;
  return 0;
}
MXC_FAKE(cuStreamSynchronize, (CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  return stream->captured != nullptr ? kUnknown : Drain(stream);
}
MXC_FAKE(cuLaunchHostFunc,
         (CudaStreamHandle stream, void (*function)(void*), void* argument)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    function(argument);
    return 0;
  });
}
MXC_FAKE(cuEventCreate, (CudaEvent * event, unsigned)) {
  if (Fails()) return kUnknown;
  *event = new CUevent_st;
  return 0;
}
MXC_FAKE(cuEventDestroy_v2, (CudaEvent event)) {
  delete event;
  return 0;
}
MXC_FAKE(cuEventRecord, (CudaEvent event, CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  event->stream = stream;
  return 0;
}
// Who waits for another stream has that done first. While a graph is captured,
// what is done beside becomes a part of it here.
MXC_FAKE(cuStreamWaitEvent,
         (CudaStreamHandle stream, CudaEvent event, unsigned)) {
  if (Fails()) return kUnknown;
  CUstream_st* other = event->stream;
  if (other == nullptr || other == stream) return 0;
  if (capturing != nullptr) {
    Capture(stream);
    return 0;
  }
  return Add(stream, [other] { return Drain(other); });
}
MXC_FAKE(cuStreamBeginCapture_v2, (CudaStreamHandle stream, int)) {
  if (Fails()) return kUnknown;
  const CudaResult result = Drain(stream);
  capturing = new CUgraph_st;
  Capture(stream);
  return result;
}
MXC_FAKE(cuStreamEndCapture, (CudaStreamHandle, CudaGraph* graph)) {
  *graph = std::exchange(capturing, nullptr);
  for (CUstream_st* stream : std::exchange(captured, {})) {
    stream->captured = nullptr;
  }
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuGraphInstantiateWithFlags,
         (CudaGraphExec * exec, CudaGraph graph, unsigned long long)) {
  if (Fails()) return kUnknown;
  *exec = new CUgraphExec_st{graph->work};
  return 0;
}
MXC_FAKE(cuGraphDestroy, (CudaGraph graph)) {
  delete graph;
  return 0;
}
MXC_FAKE(cuGraphLaunch, (CudaGraphExec exec, CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  for (const Work& work : exec->work) Add(stream, work);
  return 0;
}
MXC_FAKE(cuGraphExecDestroy, (CudaGraphExec exec)) {
  delete exec;
  return 0;
}

MXC_FAKE(cuModuleLoadData, (CudaModuleHandle * module, const void* image)) {
  if (Fails()) return kUnknown;
  const size_t bytes = ElfBytes(image);
  if (bytes == 0) return kInvalidImage;
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
MXC_FAKE(cuLaunchKernel,
         (CudaFunction function, unsigned grid, unsigned, unsigned,
          unsigned block, unsigned, unsigned, unsigned, CudaStreamHandle stream,
          void** parameters, void**)) {
  if (Fails()) return kUnknown;
  const auto* kernel = reinterpret_cast<const mxc_emulated_kernel*>(function);
  std::vector<CudaAddress> values;
  for (uint32_t i = 0; i < kernel->argument_count; ++i) {
    values.push_back(*static_cast<const CudaAddress*>(parameters[i]));
  }
  return Add(stream, [=]() mutable {
    std::vector<void*> arguments;
    for (CudaAddress& value : values) arguments.push_back(&value);
    RunGrid(*kernel, grid, block, arguments.data());
    return 0;
  });
}
