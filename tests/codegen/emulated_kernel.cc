// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/emulated_kernel.h"

#include <dlfcn.h>

#include <utility>

#include "codegen/backend.h"
#include "codegen/cuda/compile.h"
#include "ir/support/check.h"
#include "ir/target/cuda_target.h"
#include "runtime/abi/parameters.h"
#include "runtime/base/file_writer.h"
#include "tests/cuda/driver/emulated_block.h"

namespace mxc::test {
namespace {

// `user` is a flag.
void Watch(mxc_emulated_thread* thread, const void* address, uint32_t,
           uint32_t alignment) {
  if (reinterpret_cast<uintptr_t>(address) % alignment == 0) return;
  *static_cast<bool*>(runtime::EmulatedBlock::UserOf(thread)) = true;
}

std::string Compile(const Target& target, WriteKernel write) {
  const KernelSource source = {"kernel", std::move(write)};
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

EmulatedKernel::EmulatedKernel(const Target& target, WriteKernel write)
    : file_(Write(Compile(target, std::move(write)))),
      library_(dlopen(file_.path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
  MXC_CHECK(library_ != nullptr, "{}", dlerror());
  kernel_ = static_cast<const mxc_emulated_kernel*>(dlsym(library_, "kernel"));
  MXC_CHECK(kernel_ != nullptr);
}

KernelPlan EmulatedPlanOf(const Program& program) {
  const Target target = EmulatedTarget();
  return BackendOf(target).Plan(program, program.steps[0], target, {});
}

EmulatedKernel::~EmulatedKernel() { dlclose(library_); }

std::string EmulatedKernel::Run(const std::vector<void*>& operands,
                                const mxc_launch& launch,
                                const Order& order) const {
  std::vector<void*> addresses = operands;
  addresses.push_back(nullptr);  // scratch
  void* table = addresses.data();
  std::vector<void*> arguments;
  if (operands.size() > MXC_MOST_PARAMETERS) {
    arguments.push_back(&table);
  } else {
    for (void*& address : addresses) arguments.push_back(&address);
  }
  MXC_CHECK(arguments.size() == kernel_->argument_count);
  bool misaligned = false;
  runtime::EmulatedBlock block(Watch, &misaligned);
  for (uint32_t i = 0; i < launch.grid[0]; ++i) {
    const std::string wrong =
        block.Run({.kernel = kernel_,
                   .arguments = arguments.data(),
                   .threads = launch.block[0],
                   .shared_bytes = launch.shared_bytes,
                   .seed = order.seed,
                   .without_barrier = order.without_barrier},
                  order.backwards ? launch.grid[0] - 1 - i : i);
    if (!wrong.empty()) return wrong;
  }
  return misaligned ? "an access is not aligned" : "";
}

}  // namespace mxc::test
