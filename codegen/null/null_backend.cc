// SPDX-License-Identifier: Apache-2.0
// Code for the null device (runtime/device/null.cc), which tests compile for:
// the CPU's kernels, launched as a device launches its own, each task a block
// of one thread.
#include "codegen/backend.h"

namespace mxc {
namespace {

class NullCode : public Backend {
 public:
  std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target& target, const CatalogOptions& options) const override {
    return CpuBackend().MakeCatalog(target, options);
  }

  KernelPlan Plan(const Program& program, const Step& step,
                  const Target& target,
                  const InnerCalls& calls_of) const override {
    KernelPlan plan = CpuBackend().Plan(program, step, target, calls_of);
    plan.launch = {.grid = {static_cast<uint32_t>(plan.tasks), 1, 1},
                   .block = {1, 1, 1},
                   .shared_bytes = 0,
                   .reserved = 0};
    return plan;
  }

  CompiledKernels Compile(std::span<const KernelSource> sources,
                          const Target& target,
                          const CompileOptions& options) const override {
    CompiledKernels kernels = CpuBackend().Compile(sources, target, options);
    std::string names;
    for (const KernelSource& source : sources) names += source.name + '\0';
    names += '\0';  // also where there are none
    kernels.forms.push_back({MXC_IMAGE_NAMES, 0, std::move(names)});
    return kernels;
  }

  bool Takes(const Target& target, std::string_view option) const override {
    return CpuBackend().Takes(target, option);
  }
};

}  // namespace

const Backend& NullBackend() {
  static const NullCode backend;
  return backend;
}

}  // namespace mxc
