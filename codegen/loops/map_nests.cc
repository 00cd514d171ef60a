// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/map_nests.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codegen/llvm/alias_scopes.h"
#include "codegen/llvm/session.h"
#include "codegen/loops/nest_emitter.h"
#include "codegen/schedule/loop_nest.h"
#include "ir/program/steps/map.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// The part of begin … end that belongs to the nest, whose first task is `first`.
void EmitPart(KernelFunction& kernel, const std::vector<EmitOperand>& operands,
              const LoopNest& nest, int64_t first, bool alone) {
  auto& builder = kernel.b();
  ExprEmitter emitter(kernel, operands, nest.lanes, nest.sum_lanes);
  const auto within = [&](llvm::Value* task) {
    llvm::Value* local = builder.CreateSub(task, kernel.Int(first));
    if (alone) return local;
    local = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, local,
                                          kernel.Int(0));
    return static_cast<llvm::Value*>(builder.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, local, kernel.Int(nest.tasks)));
  };
  NestEmitter(emitter, nest).Emit(within(kernel.begin()), within(kernel.end()));
}

// Of one task, which finds its nest by halves.
void EmitOneOf(KernelFunction& kernel, const std::vector<EmitOperand>& operands,
               std::span<const LoopNest> nests, int64_t first) {
  if (nests.size() == 1) {
    return EmitPart(kernel, operands, nests[0], first, /*alone=*/true);
  }
  const auto before = nests.first(nests.size() / 2);
  int64_t middle = first;
  for (const LoopNest& nest : before) middle += nest.tasks;
  kernel.If(
      kernel.b().CreateICmpSLT(kernel.begin(), kernel.Int(middle)),
      [&] { EmitOneOf(kernel, operands, before, first); },
      [&] {
        EmitOneOf(kernel, operands, nests.subspan(before.size()), middle);
      });
}

void EmitMapKernel(KernelFunction& kernel, const MapNests& map) {
  const std::vector<EmitOperand> operands = OperandsOf(kernel, map);
  if (map.one_task_each) return EmitOneOf(kernel, operands, map.nests, 0);
  int64_t first = 0;
  for (const LoopNest& nest : map.nests) {
    EmitPart(kernel, operands, nest, first, map.nests.size() == 1);
    first += nest.tasks;
  }
}

const Map& MapOf(const Step& step) {
  MXC_CHECK(step.map() != nullptr, "step '{}'", step.name);
  return *step.map();
}

std::vector<DType> TypesOf(const MapNests& map) {
  std::vector<DType> types;
  for (const NestOperand& operand : map.operands) {
    types.push_back(operand.dtype);
  }
  return types;
}

}  // namespace

std::vector<EmitOperand> OperandsOf(KernelFunction& kernel,
                                    const MapNests& map) {
  std::vector<EmitOperand> operands;
  for (size_t i = 0; i < map.operands.size(); ++i) {
    operands.push_back({kernel.operand(static_cast<int>(i)),
                        map.operands[i].dtype, map.operands[i].layout});
  }
  SeparateByRoots(kernel, map.roots, operands);
  return operands;
}

std::shared_ptr<const MapNests> NestsOf(const Program& program,
                                        const Step& step, const Target& target,
                                        const Dealing& dealing) {
  auto map = std::make_shared<MapNests>();
  map->one_task_each = dealing.one_task_each;
  for (const int id : step.operands()) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(id)];
    map->operands.push_back({buffer.type.dtype, buffer.layout});
    map->roots.push_back(program.Root(id));
  }
  const bool masked_tails =
      dealing.masked_tails && HasMaskedVectors(target, TypesOf(*map));
  for (const std::vector<int>& sweep : SweepsOf(program, step)) {
    std::vector<NestOutput> outputs;
    for (const int output : sweep) {
      NestOutput& nest = outputs.emplace_back();
      nest.operand = static_cast<int>(step.inputs.size()) + output;
      nest.shares_bytes =
          std::ranges::count(map->roots,
                             map->roots[static_cast<size_t>(nest.operand)]) > 1;
      for (const Store& store : MapOf(step).stores) {
        if (store.output == output) nest.stores.push_back(&store);
      }
    }
    const auto first = static_cast<size_t>(sweep[0]);
    const int buffer = step.outputs[first];
    map->nests.push_back(ScheduleNest(
        outputs, program.buffers[static_cast<size_t>(buffer)].type.shape,
        map->operands, target.machine, dealing, masked_tails));
  }
  return map;
}

FunctionPlan PlanNests(std::shared_ptr<const MapNests> map) {
  FunctionPlan plan;
  plan.even = map->nests.size() == 1 && map->nests[0].IsEven();
  plan.tasks = 0;
  for (const LoopNest& nest : map->nests) {
    plan.tasks += nest.tasks;
    plan.nanoseconds += nest.nanoseconds;
  }
  plan.emit = [map = std::move(map)](KernelFunction& function) {
    EmitMapKernel(function, *map);
  };
  return plan;
}

}  // namespace mxc
