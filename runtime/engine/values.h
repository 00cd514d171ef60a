// SPDX-License-Identifier: Apache-2.0
// What is wrong with the values that an operation has, one for each variable: for
// an operation that stands for several, which decides itself what becomes of each.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/variable.h"

namespace mxc::runtime {

class Values {
 public:
  using FailurePtr = std::shared_ptr<Failure>;

  // `failures`: by use, of the variables as they are.
  Values(std::span<const Use> uses, std::vector<FailurePtr> failures)
      : uses_(uses), failures_(std::move(failures)) {}

  // Whether one that the operation needs has failed.
  bool HaveFailed() const;
  // Null: nothing is wrong with it.
  const FailurePtr& Of(const Variable& variable) const {
    return failures_[At(variable)];
  }
  // What is written has this failure from now on; null: none.
  void Set(const Variable& variable, FailurePtr failure) {
    failures_[At(variable)] = std::move(failure);
  }
  // All that is written has this outcome.
  void SetWritten(const Status& status);
  // A failure that nobody has been told; null for success.
  FailurePtr New(const Status& status);

  std::span<const Use> uses() const { return uses_; }
  std::span<const FailurePtr> all() const { return failures_; }  // by use
  std::span<const FailurePtr> made() const { return made_; }

 private:
  size_t At(const Variable& variable) const;

  const std::span<const Use> uses_;
  std::vector<FailurePtr> failures_, made_;
};

}  // namespace mxc::runtime
