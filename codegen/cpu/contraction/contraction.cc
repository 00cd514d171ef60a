// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/contraction.h"

#include <memory>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/step_kernel.h"
#include "codegen/cpu/contraction/step_shape.h"
#include "codegen/cpu/contraction/strassen_kernel.h"
#include "codegen/cpu/contraction/winograd_kernel.h"
#include "codegen/cpu/contraction/winograd_sums_kernel.h"

namespace mxc {
namespace {

FunctionPlan PlanWinograd(const Program& program, const Step& step,
                          const Target& target) {
  auto shape = std::make_shared<const contraction::WinogradShape>(
      contraction::ShapeWinograd(program, step, target));
  FunctionPlan plan;
  plan.tasks = shape->grid.blocks() * shape->grid.channel_chunks;
  plan.scratch_bytes = shape->grid.scratch_bytes;
  plan.emit = [shape](KernelFunction& kernel) {
    contraction::WinogradKernel(kernel, *shape).Emit();
  };
  return plan;
}

FunctionPlan PlanWinogradSums(const Program& program, const Step& step,
                              const Target& target) {
  auto shape = std::make_shared<const contraction::WinogradSumsShape>(
      contraction::ShapeWinogradSums(program, step, target));
  FunctionPlan plan;
  plan.tasks = shape->tasks();
  plan.scratch_bytes = shape->grid.scratch_bytes;
  plan.emit = [shape](KernelFunction& kernel) {
    contraction::WinogradSumsKernel(kernel, *shape).Emit();
  };
  return plan;
}

FunctionPlan PlanStrassen(const Program& program, const Step& step,
                          const Target& target) {
  auto shape = std::make_shared<const contraction::StrassenShape>(
      contraction::ShapeStrassen(program, step, target));
  FunctionPlan plan;
  plan.tasks = shape->grid.blocks * shape->grid.channel_chunks;
  plan.scratch_bytes = shape->grid.scratch_bytes;
  plan.emit = [shape](KernelFunction& kernel) {
    contraction::StrassenKernel(kernel, *shape).Emit();
  };
  return plan;
}

FunctionPlan PlanNest(const Program& program, const Step& step,
                      const Target& target) {
  auto shapes = std::make_shared<const std::vector<contraction::StepShape>>(
      contraction::ShapeStep(program, step, target));
  FunctionPlan plan;
  plan.tasks = shapes->front().task_count();
  plan.scratch_bytes = shapes->front().scratch_bytes;
  plan.emit = [shapes](KernelFunction& kernel) {
    contraction::EmitStep(kernel, *shapes);
  };
  return plan;
}

}  // namespace

FunctionPlan PlanContraction(const Program& program, const Step& step,
                             const Target& target) {
  const ContractionStep& body = *step.contraction();
  const std::string& algorithm = body.choice.algorithm;
  MXC_CHECK(body.maxima.empty() || contraction::WinogradTile(algorithm) > 0,
            "{}: maxima by {}", step.name, algorithm);
  if (contraction::WinogradTile(algorithm) > 0) {
    return PlanWinograd(program, step, target);
  }
  if (contraction::WinogradSumsTile(algorithm) > 0) {
    return PlanWinogradSums(program, step, target);
  }
  if (algorithm == contraction::kStrassen) {
    return PlanStrassen(program, step, target);
  }
  return PlanNest(program, step, target);
}

}  // namespace mxc
