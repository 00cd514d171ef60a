// SPDX-License-Identifier: Apache-2.0
#include "tests/support/levels.h"

#include <cstdlib>

#include "ir/support/check.h"
#include "runtime/base/cpu.h"

namespace mxc::test {
namespace {

const char* EmulatedTarget() { return std::getenv("MXC_TEST_TARGET"); }

}  // namespace

bool CanRun(const Target& target) {
  if (const char* emulated = EmulatedTarget()) {
    const Target other = *ResolveTarget(emulated);
    return target.triple == other.triple &&
           (target.required_features & ~other.required_features) == 0;
  }
  return (target.required_features & ~runtime::CpuFeatures()) == 0 &&
         runtime::AllowFeatures(target.required_features).ok();
}

std::vector<Target> RunnableTargets() {
  std::vector<Target> targets;
  if (const char* emulated = EmulatedTarget()) {
    targets.push_back(*ResolveTarget(emulated));
    return targets;
  }
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
