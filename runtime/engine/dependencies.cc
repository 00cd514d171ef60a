// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/dependencies.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace mxc::runtime {
namespace {

// An operation has a handful of operands: looking through them is quickest.
std::span<Use> JoinedUses(std::span<Use> uses) {
  size_t kept = 0;
  for (const Use& use : uses) {
    const std::span<Use> before = uses.first(kept);
    const auto same = std::find_if(
        before.begin(), before.end(),
        [&](const Use& other) { return other.variable == use.variable; });
    if (same == before.end()) {
      uses[kept++] = use;
    } else if (same->access != use.access) {
      same->access = Access::kUpdate;
    }
  }
  return uses.first(kept);
}

}  // namespace

void Variable::Grant(Access access) {
  if (access == Access::kRead) {
    ++readers_;
  } else {
    is_written_ = true;
  }
}

void Variable::Release(Access access) {
  if (access == Access::kRead) {
    --readers_;
  } else {
    is_written_ = false;
  }
}

void Dependencies::Add(Pending& operation, Ready& ready) noexcept {
  operation.uses = JoinedUses(operation.uses);
  operation.missing_ = 0;
  for (const auto [variable, access] : operation.uses) {
    if (variable->IsIdleFor(access)) {
      variable->Grant(access);
    } else {
      variable->waiting_.push_back({&operation, access});
      ++operation.missing_;
    }
  }
  if (operation.missing_ == 0) ready.push_back(&operation);
}

bool Dependencies::TryAdd(Pending& operation) {
  operation.uses = JoinedUses(operation.uses);
  operation.missing_ = 0;
  const auto is_idle = [](const Use& use) {
    return use.variable->IsIdleFor(use.access);
  };
  if (!std::all_of(operation.uses.begin(), operation.uses.end(), is_idle)) {
    return false;
  }
  for (const auto [variable, access] : operation.uses) variable->Grant(access);
  return true;
}

void Dependencies::Complete(Pending& operation,
                            const std::shared_ptr<Failure>& failure,
                            Ready& ready) noexcept {
  for (const Use& use : operation.uses) Release(use, failure, ready);
}

void Dependencies::Complete(Pending& operation, const Values& outcomes,
                            Ready& ready) noexcept {
  for (size_t u = 0; u < operation.uses.size(); ++u) {
    Release(operation.uses[u], outcomes.all()[u], ready);
  }
}

void Dependencies::Release(const Use& use,
                           const std::shared_ptr<Failure>& failure,
                           Ready& ready) {
  use.variable->Release(use.access);
  if (use.access != Access::kRead) use.variable->failure_ = failure;
  GrantWaiting(*use.variable, ready);
}

Values Dependencies::ValuesOf(const Pending& operation) {
  std::vector<std::shared_ptr<Failure>> failures;
  for (const Use& use : operation.uses) {
    failures.push_back(use.variable->failure_);
  }
  return {operation.uses, std::move(failures)};
}

void Dependencies::GrantWaiting(Variable& variable, Ready& ready) {
  std::vector<Variable::Waiting>& waiting = variable.waiting_;
  while (variable.HasWaiting() &&
         variable.CanGrant(waiting[variable.next_].access)) {
    const auto [operation, access] = waiting[variable.next_++];
    variable.Grant(access);
    if (--operation->missing_ == 0) ready.push_back(operation);
  }
  // What is gone is dropped once it is half of the queue: one that never becomes
  // empty does not grow.
  if (variable.next_ * 2 < waiting.size()) return;
  waiting.erase(waiting.begin(),
                waiting.begin() + static_cast<std::ptrdiff_t>(variable.next_));
  variable.next_ = 0;
}

std::shared_ptr<Failure> Dependencies::Inherited(const Pending& operation) {
  for (const auto [variable, access] : operation.uses) {
    if (access != Access::kWrite && variable->failure_ != nullptr) {
      return variable->failure_;
    }
  }
  return nullptr;
}

}  // namespace mxc::runtime
