// SPDX-License-Identifier: Apache-2.0
// integers-as-floats: sums of few products of 8-bit integers, which f32 has
// exactly, are summed in it where that is faster.
//
//   x  u8[…], w i8[…]                  x' f32[…] = f32(x), w' f32[…] = f32(w)
//   y = conv(x, w), sums of i32   ⇒    y = i32(conv(x', w')), sums of f32
//
// Units that multiply integers take several channels, or several columns of a
// depthwise kernel, at once: a picture's three channels are too few for some,
// and some machines have no such unit.
//
// Runs before fusion, so that the step that computes x stores x' instead.
#include <map>
#include <string>

#include "ir/program/add_buffer.h"
#include "ir/program/cast_step.h"
#include "ir/program/steps/contraction.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"
#include "passes/tensor_in_type.h"

namespace mxc {
namespace {

// The greatest product of two 8-bit numbers, and the first whole number behind
// which some are no floats.
constexpr int64_t kGreatestProduct = 255 * 128, kExactInF32 = 1 << 24;
// With so many channels units for integers have enough to do.
constexpr int64_t kChannelsOfUnits = 8;

bool IsByte(DType dtype) { return dtype == DType::kU8 || dtype == DType::kI8; }

bool AreExactInF32(const Contraction& c) {
  int64_t products = c.in;
  for (const int64_t extent : c.kernel) products *= extent;
  return IsByte(c.types.data) && IsByte(c.types.weight) &&
         c.types.sum == DType::kI32 && c.in < kChannelsOfUnits &&
         products * kGreatestProduct <= kExactInF32;
}

class SumsInFloats {
 public:
  SumsInFloats(Program& program, const KernelCatalog& catalog)
      : program_(program), catalog_(catalog) {}

  bool Run() {
    bool changed = false;
    std::vector<Step> steps;
    for (Step& step : program_.steps) {
      if (step.contraction() != nullptr && IsFaster(step)) {
        ReadFloats(step, steps);
        changed = true;
      }
      steps.push_back(std::move(step));
    }
    program_.steps = std::move(steps);
    return changed;
  }

 private:
  bool IsConstant(int buffer) const {
    return program_.buffers[buffer].kind == BufferKind::kConstant;
  }

  // Where the catalog has nothing for either, generic loops add floats sooner.
  bool IsFaster(const Step& step) const {
    const Contraction& c = step.contraction()->contraction;
    if (!AreExactInF32(c)) return false;
    Contraction floats = c;
    floats.types = ContractionTypes::All(DType::kF32);
    floats.types.output = c.types.output;
    const bool constant = IsConstant(step.inputs[1]);
    const auto integers = KernelSeconds(catalog_, c, constant);
    const auto other = KernelSeconds(catalog_, floats, constant);
    return !integers || (other && *other < *integers);
  }

  void ReadFloats(Step& step, std::vector<Step>& steps) {
    for (const int operand : {0, 1}) {
      step.inputs[operand] = InFloats(step.inputs[operand], step, steps);
    }
    ContractionStep& body = *step.contraction();
    body.contraction.types.data = body.contraction.types.weight =
        body.contraction.types.sum = DType::kF32;
    const Expr sum = Cast(Acc(DType::kF32), DType::kI32);
    body.epilogue = Rewrite(body.epilogue, [&](const Expr& e) -> Expr {
      return e->kind == ExprKind::kAcc ? sum : Expr();
    });
  }

  // The buffer's elements in f32, which a step before writes, once.
  int InFloats(int buffer, const Step& reader, std::vector<Step>& steps) {
    const auto [found, is_new] = floats_.try_emplace(buffer, -1);
    if (!is_new) return found->second;
    const Buffer from = program_.buffers[buffer];
    const TensorType type = {DType::kF32, from.type.shape};
    const std::string name = from.name + "/f32";
    const bool constant = IsConstant(buffer);
    found->second =
        AddBuffer(program_, name, type,
                  constant ? BufferKind::kConstant : BufferKind::kInternal);
    if (constant) {
      program_.buffers[found->second].constant = Tensor::Deferred(
          type,
          [integers = from.constant] { return InType(integers, DType::kF32); });
    } else {
      steps.push_back(CastStep(program_, buffer, found->second, name, reader));
    }
    return found->second;
  }

  Program& program_;
  const KernelCatalog& catalog_;
  std::map<int, int> floats_;  // by buffer
};

}  // namespace

Result<bool> IntegersAsFloats(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  return SumsInFloats(program, *context.catalog).Run();
}

}  // namespace mxc
