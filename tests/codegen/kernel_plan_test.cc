// SPDX-License-Identifier: Apache-2.0
// Plans name the type of the function that their kernels are written into.
#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "codegen/cuda/device_function.h"
#include "codegen/llvm/kernel_plan.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

template <typename Function>
using Emit = std::function<void(Function&)>;

// A kernel of a device asks for what a host's function does not have.
static_assert(
    !std::is_assignable_v<Emit<KernelFunction>&, Emit<DeviceFunction>>);
static_assert(!std::is_convertible_v<DevicePlan, FunctionPlan>);
// A kernel that asks for nothing runs everywhere.
static_assert(
    std::is_assignable_v<Emit<DeviceFunction>&, Emit<KernelFunction>>);

// As a back end has it, with something that only this one knows.
class CountingFunction : public KernelFunction {
 public:
  using KernelFunction::KernelFunction;

  void Count(int64_t by) {
    auto& b = this->b();
    llvm::Value* before = b.CreateLoad(b.getInt64Ty(), operand(0));
    b.CreateStore(b.CreateAdd(before, Int(by)), operand(0));
  }
};

TEST_CASE("a kernel is written into a function of its back end's type") {
  const Target target = RunnableTargets().back();
  Step step;
  step.outputs = {0};
  PlanFor<CountingFunction> own;
  own.tasks = 3;
  own.emit = [](CountingFunction& kernel) { kernel.Count(40); };
  const KernelPlan plan = {std::move(own), step, target};
  CHECK(plan.tasks == 3);
  KernelVector<int64_t> count = {2};
  NativeKernel(target, plan.write).Run({count.data()}, 0, 1);
  CHECK(count[0] == 42);
}

}  // namespace
}  // namespace mxc::test
