// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/emulated_kernel.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "codegen/cuda/compile.h"
#include "ir/support/check.h"
#include "ir/support/division.h"
#include "ir/target/cuda_target.h"
#include "runtime/base/file_writer.h"

namespace mxc::test {
namespace {

// A thread, and what was seen of its accesses.
struct Watched {
  mxc_emulated_thread thread;  // first: the kernel knows this part
  int64_t misaligned;
};

void Watch(mxc_emulated_thread* thread, const void* address, uint32_t,
           uint32_t alignment) {
  if (reinterpret_cast<uintptr_t>(address) % alignment == 0) return;
  ++reinterpret_cast<Watched*>(thread)->misaligned;
}

std::string Compile(const Target& target, int operands,
                    std::function<void(KernelFunction&)> emit) {
  const KernelSource source = {"kernel", operands, std::move(emit)};
  return CompileForDevice({&source, 1}, target, {}).emulated;
}

runtime::NamelessFile Write(const std::string& image) {
  auto file = runtime::NamelessFile::Create();
  MXC_CHECK(file.ok());
  runtime::FileWriter out(file->path());
  out.Append(image);
  MXC_CHECK(out.Commit().ok());
  return std::move(*file);
}

}  // namespace

Target EmulatedTarget() { return EmulatedCudaTarget(*ResolveTarget("native")); }

EmulatedKernel::EmulatedKernel(const Target& target, int operands,
                               std::function<void(KernelFunction&)> emit)
    : file_(Write(Compile(target, operands, std::move(emit)))),
      library_(dlopen(file_.path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
  MXC_CHECK(library_ != nullptr, "{}", dlerror());
  kernel_ = static_cast<const mxc_emulated_kernel*>(dlsym(library_, "kernel"));
  MXC_CHECK(kernel_ != nullptr);
}

EmulatedKernel::~EmulatedKernel() { dlclose(library_); }

int64_t EmulatedKernel::Run(const std::vector<void*>& operands, int64_t tasks,
                            uint32_t threads, bool backwards) const {
  std::vector<void*> addresses = operands;
  addresses.push_back(nullptr);  // scratch
  MXC_CHECK(addresses.size() == kernel_->argument_count);
  std::vector<void*> arguments;
  for (void*& address : addresses) arguments.push_back(&address);
  const auto count = static_cast<uint32_t>(
      DivideUp(tasks, static_cast<int64_t>(threads)) * threads);
  Watched watched = {{.thread = 0, .block = 0, .access = Watch}, 0};
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t number = backwards ? count - 1 - i : i;
    watched.thread.thread = number % threads;
    watched.thread.block = number / threads;
    kernel_->run(&watched.thread, arguments.data());
  }
  return watched.misaligned;
}

}  // namespace mxc::test
