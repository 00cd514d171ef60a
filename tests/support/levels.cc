// SPDX-License-Identifier: Apache-2.0
#include "tests/support/levels.h"

#include "runtime/base/cpu.h"

#include "ir/support/check.h"

namespace mxc::test {

bool CanRun(const Target& target) {
  return (target.required_features & ~runtime::CpuFeatures()) == 0 &&
         runtime::AllowFeatures(target.required_features).ok();
}

std::vector<Target> RunnableTargets() {
  std::vector<Target> targets;
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const Target target = *ResolveTarget(name);
    if (CanRun(target)) targets.push_back(target);
  }
  MXC_CHECK(!targets.empty());
  return targets;
}

Result<Target> RunnableTarget(std::string_view name) {
  MXC_ASSIGN(Target target, ResolveTarget(name));
  if (!CanRun(target)) target = RunnableTargets().back();
  return target;
}

}  // namespace mxc::test
