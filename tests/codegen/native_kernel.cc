// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/native_kernel.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/objects.h"
#include "ir/support/check.h"
#include "tests/codegen/other_processor.h"

LLD_HAS_DRIVER(elf)

namespace mxc::test {
namespace {

constexpr std::byte kPattern{0xA5};

std::byte* MapPages(size_t bytes) {
  if (OtherProcessor* other = OtherProcessor::Get()) {
    return other->Allocate(bytes);
  }
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MXC_CHECK(mapping != MAP_FAILED);
  return static_cast<std::byte*>(mapping);
}

void Forbid(std::byte* address, size_t bytes) {
  if (OtherProcessor* other = OtherProcessor::Get()) {
    return other->Protect(address, bytes, PROT_NONE);
  }
  MXC_CHECK(mprotect(address, bytes, PROT_NONE) == 0);
}

}  // namespace

NativeKernel::NativeKernel(const Target& target, WriteKernel write,
                           bool keep_assembly) {
  const KernelSource source = {"kernel", std::move(write)};
  CompileOptions options;
  options.keep_assembly = keep_assembly;
  const CompiledKernels compiled =
      CompileKernels({&source, 1}, target, options);
  assembly_ = compiled.assembly;
  object_bytes_ = compiled.objects[0].size();

  char folder[] = "/tmp/mxc_kernel_XXXXXX";
  MXC_CHECK(mkdtemp(folder) != nullptr);
  const std::string object = std::string(folder) + "/kernel.o";
  const std::string library = std::string(folder) + "/kernel.so";
  std::ofstream(object, std::ios::binary) << compiled.objects[0];
  const std::vector<const char*> arguments = {
      "ld.lld",      "-shared", "-nostdlib",     "--no-undefined",
      "--threads=1", "-o",      library.c_str(), object.c_str()};
  const lld::Result linked = lld::lldMain(arguments, llvm::outs(), llvm::errs(),
                                          {{lld::Gnu, &lld::elf::link}});
  MXC_CHECK(linked.retCode == 0);
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
  if (kernel_ != nullptr) return kernel_(operands.data(), begin, end, scratch);
  OtherProcessor::Get()->Run(number_, operands, begin, end, scratch);
}

FencedFloats::FencedFloats(size_t count, Fence fence) : count_(count) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  usable_bytes_ = (count * sizeof(float) + page) / page * page;
  mapped_bytes_ = usable_bytes_ + 2 * page;
  mapping_ = MapPages(mapped_bytes_);
  std::memset(mapping_, static_cast<int>(kPattern), mapped_bytes_);
  std::byte* usable = mapping_ + page;
  std::byte* start = fence == Fence::kBefore
                         ? usable
                         : usable + usable_bytes_ - count * sizeof(float);
  data_ = reinterpret_cast<float*>(start);
  Forbid(mapping_, page);
  Forbid(usable + usable_bytes_, page);
}

FencedFloats::~FencedFloats() {
  if (OtherProcessor* other = OtherProcessor::Get()) {
    other->Free(mapping_, mapped_bytes_);
  } else {
    munmap(mapping_, mapped_bytes_);
  }
}

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
