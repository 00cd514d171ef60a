// SPDX-License-Identifier: Apache-2.0
#include "tests/support/levels.h"

#include "ir/support/check.h"

namespace mxc::test {

bool CanRun(const Target& target) {
  const Result<Target> native = ResolveTarget("native");
  return native.ok() &&
         (target.required_features & ~native->required_features) == 0;
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
