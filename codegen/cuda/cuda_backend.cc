// SPDX-License-Identifier: Apache-2.0
// Code for NVIDIA's devices: a step is a kernel that a grid of threads runs.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/backend.h"
#include "codegen/cuda/assemble.h"
#include "codegen/cuda/compile.h"
#include "codegen/cuda/gpu_machine.h"
#include "codegen/cuda/launch_kernel.h"
#include "codegen/cuda/library_task.h"
#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/step_kernel.h"
#include "codegen/cuda/thread_kernel.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

// Operands of products may be rounded to tf32, of 11 bits of precision: "on".
constexpr std::string_view kTf32 = "tf32";
// A program like NVIDIA's ptxas, which writes a GPU's machine code beside the
// text that its driver assembles elsewhere.
constexpr std::string_view kAssembler = "assembler";

class ProductCatalog : public KernelCatalog {
 public:
  ProductCatalog(const Target& target, const BackEndOptions& options)
      : KernelCatalog(target.machine),
        target_(target),
        machine_(GpuMachineOf(target)),
        tf32_(OptionOf(options, kTf32) == "on") {}
  std::vector<KernelCandidate> Candidates(const Contraction& c) const override {
    return ProductCandidates(c, machine_, tf32_);
  }
  bool Finishes(const Program& program, const Step& step,
                const KernelCandidate& kernel) const override {
    return !kernel.library || StoresSums(program, step);
  }
  std::string Describe(const KernelChoice& choice) const override {
    return DescribeProduct(choice);
  }
  std::string NameOf(const KernelCandidate& kernel) const override {
    std::string name = Describe(kernel.choice);
    if (kernel.parts > 1) name += fmt::format(" {} parts", kernel.parts);
    return name;
  }
  KernelChoice WithLibrary(const KernelChoice& kernel) const override {
    return ProductWithLibrary(kernel);
  }
  Trials trials() const override {
    return {.of_all_types = true, .of_sums = true};
  }
  double KernelSeconds(const Program& program,
                       const Step& step) const override {
    if (const Launch* launch = step.body.As<Launch>()) {
      return LaunchSeconds(*launch);
    }
    const double chosen = KernelCatalog::KernelSeconds(program, step);
    return chosen > 0 ? chosen : SharedSumSeconds(program, step, target_);
  }
  bool RunsAtOnce(const Program& program,
                  std::span<const Step* const> steps) const override {
    return RunAtOnce(program, steps, target_);
  }

 private:
  // Parts share the device: they take as long as one after the other.
  double LaunchSeconds(const Launch& launch) const {
    const Program& inside = *launch.inside;
    const std::string alignments(inside.buffers.size(), 'e');
    double seconds = 1e-9 * PlanLaunch(launch, target_, alignments).nanoseconds;
    for (const Step& step : inside.steps) {
      if (step.contraction() != nullptr) seconds += KernelSeconds(inside, step);
    }
    return seconds;
  }

  const Target target_;
  const GpuMachine machine_;
  const bool tf32_;
};

DevicePlan PlanKernel(const Program& program, const Step& step,
                      const Target& target) {
  const std::string alignments = AlignmentsOf(program, step);
  if (const Launch* launch = step.body.As<Launch>()) {
    return PlanLaunch(*launch, target, alignments);
  }
  DevicePlan plan = PlanStep(program, step, target, alignments).kernel;
  plan.computes = LibraryTaskOf(program, step, alignments);
  if (!plan.computes.empty()) {
    plan.scratch_bytes = std::max(plan.scratch_bytes, step.scratch_bytes);
  }
  return plan;
}

class CudaCode : public Backend {
 public:
  std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target& target, const CatalogOptions& options) const override {
    return std::make_unique<ProductCatalog>(target, options.options);
  }

  KernelPlan Plan(const Program& program, const Step& step,
                  const Target& target, const InnerCalls&) const override {
    return {PlanKernel(program, step, target), step, target};
  }

  std::string KeyOf(const Program& program, const Step& step) const override {
    return AlignmentsOf(program, step);
  }

  CompiledKernels Compile(std::span<const KernelSource> sources,
                          const Target& target,
                          const CompileOptions& options) const override {
    DeviceCode code = CompileForDevice(sources, target, options);
    CompiledKernels kernels;
    const auto version =
        static_cast<uint32_t>(target.least_generation) |
        (GpuMachineOf(target).one_generation ? MXC_IMAGE_OF_ONE : 0u);
    kernels.llvm = std::move(code.llvm);
    if (options.keep_assembly) kernels.assembly = code.ptx;
    if (code.emulated.empty()) {
      kernels.forms.push_back({MXC_IMAGE_PTX, version, code.ptx + '\0'});
    } else {
      kernels.forms.push_back(
          {MXC_IMAGE_EMULATED, version, std::move(code.emulated)});
    }
    return kernels;
  }

  // Machine code of each text that there is.
  Status Finish(const BackEndOptions& options,
                CompiledKernels& kernels) const override {
    const std::string assembler(OptionOf(options, kAssembler));
    if (assembler.empty()) return Done{};
    std::vector<DeviceForm>& forms = kernels.forms;
    for (size_t i = 0, texts = forms.size(); i < texts; ++i) {
      if (forms[i].kind != MXC_IMAGE_PTX) continue;
      const std::string text(forms[i].bytes.c_str());  // without its end
      MXC_ASSIGN(std::string code, Assemble(assembler, text, forms[i].version));
      forms.push_back({MXC_IMAGE_CUBIN, forms[i].version, std::move(code)});
    }
    return Done{};
  }

  // No text is written of what runs on this machine.
  bool Takes(const Target& target, std::string_view option) const override {
    return option == kTf32 ||
           (option == kAssembler && !GpuMachineOf(target).emulated);
  }
};

}  // namespace

const Backend& CudaBackend() {
  static const CudaCode backend;
  return backend;
}

}  // namespace mxc
