// SPDX-License-Identifier: Apache-2.0
// widen-data: a contraction's data of a narrow type become elements of the type
// of its sums, or of one that a unit of the machine multiplies, before it reads
// them.
//
//   x  bf16[…]                         x' f32[…] = f32(x)
//   y = conv(x, w), sums of f32   ⇒    y = conv(x', w)
//
// A kernel reads each element of data many times, for one vector of weights
// after the other, and would widen it each time. What is kept between steps
// stays narrow: x' lives until its last reader only. Weights, of which a vector
// is widened at once, stay as they are.
//
// Runs when fusion is done, so that the step that computes x does not store x'
// instead.
#include <algorithm>
#include <cmath>
#include <map>

#include "ir/program/add_buffer.h"
#include "ir/program/cast_step.h"
#include "ir/program/steps/contraction.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"

namespace mxc {
namespace {

class Widening {
 public:
  Widening(Program& program, const PassContext& context)
      : program_(program),
        catalog_(*context.catalog),
        machine_(context.machine()) {}

  bool Run() {
    std::vector<Step> steps;
    for (Step& step : program_.steps) {
      const DType wide = step.contraction() ? WideType(step) : DType::kUnknown;
      if (wide != DType::kUnknown) ReadWide(step, wide, steps);
      steps.push_back(std::move(step));
    }
    const bool changed = steps.size() != program_.steps.size();
    program_.steps = std::move(steps);
    return changed;
  }

 private:
  // The type to which the step's data are best widened; kUnknown: none.
  DType WideType(const Step& step) const {
    const Contraction& c = step.contraction()->contraction;
    if (c.types.data == c.types.sum) return DType::kUnknown;
    bool is_operand = false;
    VisitLoads(step.contraction()->epilogue,
               [&](const ExprNode& load) { is_operand |= load.index == 0; });
    if (is_operand) return DType::kUnknown;
    const bool constant =
        program_.buffers[step.inputs[1]].kind == BufferKind::kConstant;
    DType best = DType::kUnknown;
    double least = KernelSeconds(catalog_, c, constant).value_or(HUGE_VAL);
    for (const DType dtype : WiderTypes(c.types)) {
      Contraction wide = c;
      wide.types.data = dtype;
      const auto after = KernelSeconds(catalog_, wide, constant);
      if (!after) continue;
      const double seconds =
          *after +
          CastSeconds(machine_, program_.buffers[step.inputs[0]].type, dtype);
      if (seconds >= least) continue;
      best = dtype;
      least = seconds;
    }
    return best;
  }

  // The sums', and those that a unit multiplies with such weights.
  std::vector<DType> WiderTypes(const ContractionTypes& types) const {
    std::vector<DType> wider = {types.sum};
    for (const ProductUnit& unit : machine_.products) {
      const bool fits = unit.Takes(unit.data, types.weight, types.sum) &&
                        IsFloat(unit.data) == IsFloat(types.data) &&
                        SizeOf(unit.data) > SizeOf(types.data);
      if (fits) wider.push_back(unit.data);
    }
    return wider;
  }

  // Lets `step` read its data in type `wide`, which a step before it writes,
  // unless one has done so for an earlier reader.
  void ReadWide(Step& step, DType wide, std::vector<Step>& steps) {
    const int data = step.inputs[0];
    const auto [found, is_new] = wide_.try_emplace({data, wide}, -1);
    if (is_new) {
      const Buffer& narrow = program_.buffers[data];
      const std::string name = narrow.name + "/wide";
      const TensorType type = {wide, narrow.type.shape};
      found->second = AddBuffer(program_, name, type);
      steps.push_back(CastStep(program_, data, found->second, name, step));
    }
    step.inputs[0] = found->second;
    step.contraction()->contraction.types.data = wide;
  }

  Program& program_;
  const KernelCatalog& catalog_;
  const Machine& machine_;
  std::map<std::pair<int, DType>, int> wide_;  // by buffer and type
};

}  // namespace

Result<bool> WidenData(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  return Widening(program, context).Run();
}

}  // namespace mxc
