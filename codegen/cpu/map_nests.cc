// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/map_nests.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "codegen/cpu/nest_emitter.h"
#include "codegen/llvm/alias_scopes.h"
#include "codegen/schedule/loop_nest.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

struct MapKernel {
  std::vector<NestOperand> operands;
  std::vector<int> roots;  // operands with equal roots share bytes
  size_t inputs = 0;
  std::vector<LoopNest> nests;
};

std::vector<EmitOperand> OperandsOf(KernelFunction& kernel,
                                    const MapKernel& map) {
  std::vector<EmitOperand> operands;
  for (size_t i = 0; i < map.operands.size(); ++i) {
    operands.push_back({kernel.operand(static_cast<int>(i)),
                        map.operands[i].dtype, map.operands[i].layout});
  }
  SeparateByRoots(kernel, map.roots, operands);
  return operands;
}

void EmitMapKernel(KernelFunction& kernel, const MapKernel& map) {
  auto& builder = kernel.b();
  const std::vector<EmitOperand> operands = OperandsOf(kernel, map);
  int64_t first = 0;
  for (const LoopNest& nest : map.nests) {
    ExprEmitter emitter(kernel, operands, nest.lanes);
    // The part of begin … end that belongs to this nest.
    const auto within = [&](llvm::Value* task) {
      llvm::Value* local = builder.CreateSub(task, kernel.Int(first));
      if (map.nests.size() == 1) return local;
      local = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, local,
                                            kernel.Int(0));
      return static_cast<llvm::Value*>(builder.CreateBinaryIntrinsic(
          llvm::Intrinsic::smin, local, kernel.Int(nest.tasks)));
    };
    NestEmitter(emitter, nest)
        .Emit(within(kernel.begin()), within(kernel.end()));
    first += nest.tasks;
  }
}

const Map& MapOf(const Step& step) {
  MXC_CHECK(step.map() != nullptr, "step '{}'", step.name);
  return *step.map();
}

}  // namespace

KernelPlan PlanNests(const Program& program, const Step& step,
                     const Target& target, bool masked_tails) {
  auto kernel = std::make_shared<MapKernel>();
  const auto add_operand = [&](int id) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(id)];
    kernel->operands.push_back({buffer.type.dtype, buffer.layout});
    kernel->roots.push_back(program.Root(id));
  };
  for (const int id : step.inputs) add_operand(id);
  for (const int id : step.outputs) add_operand(id);
  kernel->inputs = step.inputs.size();

  KernelPlan plan;
  plan.tasks = 0;
  for (const std::vector<int>& sweep : SweepsOf(program, step)) {
    std::vector<NestOutput> outputs;
    for (const int output : sweep) {
      NestOutput& nest = outputs.emplace_back();
      nest.operand = static_cast<int>(kernel->inputs) + output;
      nest.shares_bytes =
          std::ranges::count(kernel->roots,
                             kernel->roots[static_cast<size_t>(nest.operand)]) >
          1;
      for (const Store& store : MapOf(step).stores) {
        if (store.output == output) nest.stores.push_back(&store);
      }
    }
    const auto first = static_cast<size_t>(sweep[0]);
    const int buffer = step.outputs[first];
    kernel->nests.push_back(ScheduleNest(
        outputs, program.buffers[static_cast<size_t>(buffer)].type.shape,
        kernel->operands, target, masked_tails));
    plan.tasks += kernel->nests.back().tasks;
  }
  plan.emit = [kernel](KernelFunction& function) {
    EmitMapKernel(function, *kernel);
  };
  return plan;
}

}  // namespace mxc
