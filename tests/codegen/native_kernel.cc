// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/native_kernel.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/objects.h"
#include "ir/support/check.h"
#include "tests/codegen/other_processor.h"

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(wasm)

namespace mxc::test {
namespace {

constexpr std::byte kPattern{0xA5};

size_t WholePages(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// A library of the object, which has the function `kernel`.
void LinkKernel(const Target& target, const std::string& object,
                const std::string& library) {
  std::vector<const char*> arguments = {"ld.lld", "-shared", "-nostdlib",
                                        "--no-undefined"};
  if (target.runs_in_page()) {
    arguments = {"wasm-ld",         "--no-entry",    "--export=kernel",
                 "--import-memory", "--stack-first", "-z",
                 "stack-size=65536"};
  }
  arguments.insert(arguments.end(),
                   {"--threads=1", "-o", library.c_str(), object.c_str()});
  const lld::Result linked = lld::lldMain(
      arguments, llvm::outs(), llvm::errs(),
      {{lld::Gnu, &lld::elf::link}, {lld::Wasm, &lld::wasm::link}});
  MXC_CHECK(linked.retCode == 0);
}

void Forbid(std::byte* address, size_t bytes) {
  if (OtherProcessor* other = OtherProcessor::Get()) {
    return other->Protect(address, bytes, PROT_NONE);
  }
  MXC_CHECK(mprotect(address, bytes, PROT_NONE) == 0);
}

}  // namespace

std::byte* MapForKernels(size_t bytes) {
  bytes = WholePages(bytes);
  if (OtherProcessor* other = OtherProcessor::Get()) {
    return other->Allocate(bytes);
  }
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MXC_CHECK(mapping != MAP_FAILED);
  return static_cast<std::byte*>(mapping);
}

void UnmapForKernels(std::byte* memory, size_t bytes) {
  bytes = WholePages(bytes);
  if (OtherProcessor* other = OtherProcessor::Get()) {
    other->Free(memory, bytes);
  } else {
    munmap(memory, bytes);
  }
}

NativeKernel::NativeKernel(const Target& target, WriteKernel write,
                           bool keep_assembly)
    : target_(target.name) {
  const KernelSource source = {"kernel", std::move(write)};
  CompileOptions options;
  options.keep_assembly = keep_assembly;
  const CompiledKernels compiled =
      CompileKernels({&source, 1}, target, options);
  assembly_ = compiled.assembly;
  object_bytes_ = compiled.objects[0].size();
  if (!CanRun(target)) return;

  char folder[] = "/tmp/mxc_kernel_XXXXXX";
  MXC_CHECK(mkdtemp(folder) != nullptr);
  const std::string object = std::string(folder) + "/kernel.o";
  const std::string library = std::string(folder) + "/kernel.so";
  std::ofstream(object, std::ios::binary) << compiled.objects[0];
  LinkKernel(target, object, library);
  if (OtherProcessor* other = OtherProcessor::Get()) {
    number_ = other->Load(library);
  } else {
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    MXC_CHECK(library_ != nullptr, "{}", dlerror());
    kernel_ = reinterpret_cast<Kernel>(dlsym(library_, "kernel"));
  }
  unlink(object.c_str());
  unlink(library.c_str());
  rmdir(folder);
}

NativeKernel::~NativeKernel() {
  if (library_ != nullptr) dlclose(library_);
}

void NativeKernel::Run(const std::vector<void*>& operands, int64_t begin,
                       int64_t end, void* scratch) const {
  if (begin < end) Call(operands, begin, end, end - begin, scratch);
}

void NativeKernel::RunEach(const std::vector<void*>& operands, int64_t tasks,
                           Order order, void* scratch) const {
  if (order == Order::kForwards) Call(operands, 0, tasks, 1, scratch);
  if (order == Order::kBackwards) Call(operands, tasks - 1, -1, -1, scratch);
}

// From `begin` on as many tasks as |step| at a time, before `end` is reached.
void NativeKernel::Call(const std::vector<void*>& operands, int64_t begin,
                        int64_t end, int64_t step, void* scratch) const {
  if (number_ >= 0) {
    OtherProcessor::Get()->Run(number_, operands, {begin, end, step}, scratch);
    return;
  }
  MXC_CHECK(kernel_ != nullptr, "this machine does not run {}", target_);
  for (int64_t t = begin; t != end; t += step) {
    kernel_(operands.data(), t, t + std::abs(step), scratch);
  }
}

FencedFloats::FencedFloats(size_t count, Fence fence) : count_(count) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  usable_bytes_ = (count * sizeof(float) + page) / page * page;
  mapped_bytes_ = usable_bytes_ + 2 * page;
  mapping_ = MapForKernels(mapped_bytes_);
  std::memset(mapping_, static_cast<int>(kPattern), mapped_bytes_);
  std::byte* usable = mapping_ + page;
  std::byte* start = fence == Fence::kBefore
                         ? usable
                         : usable + usable_bytes_ - count * sizeof(float);
  data_ = reinterpret_cast<float*>(start);
  Forbid(mapping_, page);
  Forbid(usable + usable_bytes_, page);
}

FencedFloats::~FencedFloats() { UnmapForKernels(mapping_, mapped_bytes_); }

bool FencedFloats::PatternIntact() const {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::byte* usable = mapping_ + page;
  const auto* first = reinterpret_cast<const std::byte*>(data_);
  const std::byte* last = first + count_ * sizeof(float);
  for (const std::byte* at = usable; at < usable + usable_bytes_; ++at) {
    if (at == first) at = last;
    if (at == usable + usable_bytes_) break;
    if (*at != kPattern) return false;
  }
  return true;
}

}  // namespace mxc::test
