// SPDX-License-Identifier: Apache-2.0
#include "codegen/codegen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "codegen/artifact/device_section.h"
#include "codegen/artifact/flat_program.h"
#include "codegen/backend.h"
#include "codegen/schedule/address_form.h"
#include "ir/program/in_place.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// Letters, digits and single underscores, at most `limit` of them.
std::string Identifier(std::string_view text, size_t limit) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
    if (out.size() >= limit) break;
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

KernelRow RowOf(const Program& program, const Step& step,
                const std::string& name, const KernelFacts& facts) {
  KernelRow row = {.name = name,
                   .tasks = facts.tasks,
                   .scratch_bytes = facts.scratch_bytes,
                   .inputs = static_cast<int>(step.inputs.size()),
                   .operands = {}};
  for (const int operand : step.operands()) {
    const Buffer& buffer = program.buffers[operand];
    row.operands.push_back({buffer.type.dtype, buffer.reach_bytes()});
  }
  return row;
}

class KernelTable {
 public:
  KernelTable(const Target& target, const KernelCatalog& catalog,
              CodeImage& image)
      : target_(target),
        backend_(BackendOf(target)),
        catalog_(catalog),
        image_(image) {}

  StepCode Add(const Program& program, const Step& step) {
    if (IsIdle(program, step)) return {.kernel = 0, .tasks = 0};
    if (step.body.work() != Work::kKernel) {
      return {.kernel = 0, .tasks = 0, .nanoseconds = TimeOf(program, step)};
    }
    const std::string key =
        KeyOf(program, step, StructureOf) + backend_.KeyOf(program, step);
    if (const auto row = rows_.find(key); row != rows_.end()) {
      return row->second;
    }
    return rows_[key] = AddKernel(program, step);
  }

  const std::vector<KernelSource>& sources() const { return sources_; }

 private:
  // The steps inside are kernels like all others, and share them.
  std::vector<InnerCall> CallsOf(const Program& inside) {
    std::vector<InnerCall> calls;
    for (const Step& inner : inside.steps) {
      MXC_CHECK(inner.body.work() == Work::kKernel,
                "step '{}' has no kernel, inside of one", inner.name);
      const StepCode code = Add(inside, inner);
      calls.push_back({image_.kernels.empty()
                           ? std::string()
                           : image_.kernels[code.kernel].name,
                       code.tasks, code.scratch_bytes});
    }
    return calls;
  }

  StepCode AddKernel(const Program& program, const Step& step) {
    KernelPlan plan = backend_.Plan(
        program, step, target_,
        [this](const Program& inside) { return CallsOf(inside); });
    const int row = static_cast<int>(sources_.size());
    const Buffer& output =
        program.buffers[static_cast<size_t>(step.outputs[0])];
    KernelSource source;
    source.name =
        fmt::format("mxc_{}_{:03}_{}_{}", Identifier(program.name, 24), row,
                    Identifier(step.name, 64), ShortName(output.type.dtype));
    source.write = std::move(plan.write);
    image_.kernels.push_back(RowOf(program, step, source.name, plan));
    sources_.push_back(std::move(source));
    return {row,
            plan.tasks,
            plan.scratch_bytes,
            plan.launch,
            TimeOf(program, step),
            plan.even,
            std::move(plan.computes)};
  }

  // Steps that a step holds have rows of their own. A host deals work to threads
  // by the time of it; of a device it is all that is known.
  double TimeOf(const Program& program, const Step& step) const {
    return step.body.work() == Work::kSteps
               ? 0
               : 1e9 * (target_.machine.step_seconds +
                        catalog_.WorkSeconds(program, step));
  }

  const Target& target_;
  const Backend& backend_;
  const KernelCatalog& catalog_;
  CodeImage& image_;
  std::map<std::string, StepCode> rows_;
  std::vector<KernelSource> sources_;
};

}  // namespace

Result<CodeImage> GenerateCode(std::span<const Program> entries,
                               const Target& target,
                               const CodegenOptions& options) {
  CodeImage image;
  std::unique_ptr<KernelCatalog> own;
  if (options.catalog == nullptr) own = MakeKernelCatalog(target);
  KernelTable kernels(target, own ? *own : *options.catalog, image);
  for (const Program& entry : entries) {
    const FlatProgram flat = Flatten(entry);
    std::vector<StepCode>& steps = image.steps.emplace_back();
    for (const Step& step : flat.program.steps) {
      steps.push_back(kernels.Add(flat.program, step));
    }
  }
  const Backend& backend = BackendOf(target);
  CompiledKernels compiled =
      backend.Compile(kernels.sources(), target,
                      {std::max(1, options.threads), options.keep_llvm,
                       options.keep_assembly, options.cache, options.count});
  MXC_RETURN_IF_ERROR(backend.Finish(options.options, compiled));
  image.objects = std::move(compiled.objects);
  if (!compiled.forms.empty()) image.device = DeviceSection(compiled.forms);
  image.llvm = std::move(compiled.llvm);
  image.assembly = std::move(compiled.assembly);
  image.cached = compiled.cached;
  return image;
}

}  // namespace mxc
