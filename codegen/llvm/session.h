// SPDX-License-Identifier: Apache-2.0
// From kernels as what writes LLVM IR to relocatable objects.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/llvm/kernel_plan.h"
#include "ir/support/work_count.h"
#include "ir/target/target.h"
#include "runtime/abi/abi.h"

namespace mxc {

class ObjectCache;

// One kernel to compile, whose code must not depend on those before it.
struct KernelSource {
  std::string name;  // the symbol
  WriteKernel write;
};

// Returns whether the processor of the target's order reads and writes vectors under
// a mask (see KernelFunction::HasMaskedAccess): of so many lanes; of full width, for
// each of the element types.
bool OrderHasMaskedAccess(const Target& target, DType dtype, int lanes);
bool HasMaskedVectors(const Target& target, std::span<const DType> dtypes);

// A form of all kernels for a device, as mxc_device_image says.
struct DeviceForm {
  mxc_image_kind kind = MXC_IMAGE_NAMES;
  uint32_t version = 0;
  std::string bytes;
};

struct CompiledKernels {
  // For the host, one for each source, in order; none where it runs none.
  std::vector<std::string> objects;
  std::vector<DeviceForm> forms;
  std::string llvm, assembly;  // texts of all, if asked for
  int cached = 0;              // objects that the cache knew
};

struct CompileOptions {
  int threads = 1;
  bool keep_llvm = false, keep_assembly = false;
  ObjectCache* cache = nullptr;  // not asked where texts are kept
  WorkCount* count = nullptr;    // raised by the kernels; may be null
};

// Every kernel is a module of its own, so the bytes do not depend on the number
// of threads, nor on the cache. An invalid module is our bug and aborts with
// LLVM's message.
CompiledKernels CompileKernels(std::span<const KernelSource> sources,
                               const Target& target,
                               const CompileOptions& options);

// A module of any other shape (tables, entry functions), optimized and emitted.
std::string CompileModule(const Target& target, const std::string& name,
                          const std::function<void(llvm::Module&)>& write);

}  // namespace mxc
