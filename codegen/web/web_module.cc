// SPDX-License-Identifier: Apache-2.0
#include "codegen/web/web_module.h"

#include <algorithm>

#include "codegen/artifact/c_names.h"
#include "codegen/artifact/entry_plan.h"
#include "codegen/artifact/role_rows.h"
#include "codegen/artifact/states.h"
#include "codegen/artifact/weights.h"
#include "codegen/llvm/entry_function.h"
#include "codegen/llvm/link.h"
#include "codegen/web/entry_module.h"
#include "codegen/web/team_module.h"
#include "ir/program/memory.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

class WebModuleMaker {
 public:
  WebModuleMaker(const StateTable& states, const TensorRoles& roles)
      : states_(states), roles_(roles) {}

  void AddStates() {
    memory_.states.bytes = states_.region_bytes();
    for (const StateTable::Row& row : states_.rows()) {
      WebTensor state = Describe(*row.buffer);
      state.offset = row.offset;
      if (row.initial != nullptr) {
        state.initial = static_cast<int64_t>(weights_.Add(*row.initial));
      }
      module_.states.push_back(std::move(state));
    }
  }

  void AddEntry(const Program& program, const std::vector<StepCode>& steps,
                const CodeImage& code) {
    EntryFunction function = PlanEntry(program, steps, code, states_, weights_);
    function.symbol = "mxc_entry_" + std::to_string(functions_.size());
    memory_.arena.bytes = std::max(memory_.arena.bytes, function.arena_bytes);
    WebEntry entry;
    entry.name = program.entry.Name();
    entry.symbol = names_.Take(entry.name);
    entry.lengths = program.entry.lengths;
    entry.inputs = Place(program, function.inputs);
    entry.outputs = Place(program, function.outputs);
    for (const EntryFunction::Call& call : function.calls) {
      entry.steps.push_back(call.name);
    }
    scratch_bytes_ = std::max(scratch_bytes_,
                              function.arena_bytes - function.scratch_offset);
    const auto inputs = program.BuffersOf(BufferKind::kInput);
    if (!inputs.empty()) {
      const Shape& shape = program.buffers[inputs[0]].type.shape;
      entry.batch = shape.rank() > 0 ? shape[0] : 0;
    }
    module_.entries.push_back(std::move(entry));
    functions_.push_back(std::move(function));
  }

  // All but the stack and constants, of which a module has some kilobytes.
  Status CheckMemory() {
    memory_.weights.bytes = static_cast<int64_t>(weights_.bytes().size());
    module_.memory_bytes = memory_.weights.bytes + memory_.states.bytes +
                           memory_.arena.bytes + memory_.tensors.bytes;
    constexpr int64_t kMost = (int64_t{1} << 32) - (64 << 20);
    if (module_.memory_bytes <= kMost) return Done{};
    return Error({},
                 "the network needs {} bytes of memory, more than the {} that "
                 "a module of WebAssembly can have",
                 module_.memory_bytes, kMost);
  }

  Result<WebModule> Link(std::span<const std::string> kernels,
                         const Target& target) && {
    std::vector<ExportedEntry> exported;
    for (size_t i = 0; i < functions_.size(); ++i) {
      const WebEntry& entry = module_.entries[i];
      exported.push_back({&functions_[i], entry.symbol, OffsetsOf(entry.inputs),
                          OffsetsOf(entry.outputs)});
    }
    std::vector<std::string> objects(kernels.begin(), kernels.end());
    objects.push_back(EmitEntryModule(memory_, exported, target));
    std::vector<std::string> addresses = {
        memory_.weights.symbol, memory_.states.symbol, memory_.tensors.symbol};
    objects.push_back(
        EmitEntryFunctions(functions_, target, {.by_range = true}));
    MXC_ASSIGN(module_.wasm, LinkPage(objects, addresses));
    objects.back() = EmitEntryFunctions(functions_, target,
                                        {.by_range = true, .dealer = kDealer});
    objects.push_back(EmitTeamModule(scratch_bytes_, target));
    addresses.emplace_back(kWorkerStacks);
    MXC_ASSIGN(module_.team, LinkPage(objects, addresses, /*shared=*/true));
    module_.team_pages = ImportedPages(module_.team);
    module_.weights.assign(
        reinterpret_cast<const char*>(weights_.bytes().data()),
        weights_.bytes().size());
    return std::move(module_);
  }

 private:
  WebTensor Describe(const Buffer& buffer) const {
    WebTensor tensor;
    tensor.name = buffer.name;
    tensor.type = buffer.type;
    tensor.role = static_cast<mxc_tensor_role>(roles_.Of(buffer).role);
    return tensor;
  }

  std::vector<WebTensor> Place(const Program& program,
                               const std::vector<int>& buffers) {
    std::vector<WebTensor> tensors;
    for (const int b : buffers) {
      const Buffer& buffer = program.buffers[b];
      WebTensor tensor = Describe(buffer);
      tensor.open = buffer.use.open;
      tensor.offset = memory_.tensors.bytes;
      memory_.tensors.bytes += AlignedBytes(buffer.bytes());
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  static std::vector<int64_t> OffsetsOf(const std::vector<WebTensor>& tensors) {
    std::vector<int64_t> offsets;
    for (const WebTensor& tensor : tensors) offsets.push_back(tensor.offset);
    return offsets;
  }

  const StateTable& states_;
  RoleRows roles_;
  ParameterNames names_{{"memory"}};
  WeightsSection weights_;
  WebMemory memory_;
  std::vector<EntryFunction> functions_;
  int64_t scratch_bytes_ = 0;  // the most that a kernel needs
  WebModule module_;
};

}  // namespace

Result<WebModule> GenerateWebModule(std::span<const Program> entries,
                                    const Target& target,
                                    const CodegenOptions& options,
                                    const TensorRoles& roles) {
  MXC_CHECK(!entries.empty() && target.runs_in_page());
  MXC_RETURN_IF_ERROR(RequireNoImports(entries, "a page"));
  MXC_ASSIGN(const StateTable states, StateTable::Collect(entries));
  WebModuleMaker maker(states, roles);
  MXC_ASSIGN(CodeImage code, GenerateCode(entries, target, options));
  maker.AddStates();
  for (size_t i = 0; i < entries.size(); ++i) {
    maker.AddEntry(entries[i], code.steps[i], code);
  }
  MXC_RETURN_IF_ERROR(maker.CheckMemory());
  const auto kernels = std::ssize(code.kernels);
  MXC_ASSIGN(WebModule module, std::move(maker).Link(code.objects, target));
  module.kernels = kernels;
  return module;
}

}  // namespace mxc
