// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/values.h"

#include <algorithm>

namespace mxc::runtime {

size_t Values::At(const Variable& variable) const {
  const auto found =
      std::find_if(uses_.begin(), uses_.end(),
                   [&](const Use& use) { return use.variable == &variable; });
  return static_cast<size_t>(found - uses_.begin());
}

bool Values::HaveFailed() const {
  for (size_t u = 0; u < uses_.size(); ++u) {
    if (uses_[u].access != Access::kWrite && failures_[u] != nullptr) {
      return true;
    }
  }
  return false;
}

void Values::SetWritten(const Status& status) {
  const FailurePtr failure = New(status);
  for (size_t u = 0; u < uses_.size(); ++u) {
    if (uses_[u].access != Access::kRead) failures_[u] = failure;
  }
}

Values::FailurePtr Values::New(const Status& status) {
  if (status.ok()) return nullptr;
  return made_.emplace_back(std::make_shared<Failure>(Failure{status, false}));
}

}  // namespace mxc::runtime
