// SPDX-License-Identifier: Apache-2.0
// Failures that nobody has asked for yet. The first ones are kept; a program
// that never asks does not grow.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "runtime/engine/variable.h"

namespace mxc::runtime {

class UntoldFailures {
 public:
  void Add(std::shared_ptr<Failure> failure) {
    std::erase_if(kept_, [](const auto& one) { return one->told; });
    if (kept_.size() < kKept) kept_.push_back(std::move(failure));
  }
  // The first one, told from now on; ok where there is none.
  Status Tell() {
    for (; !kept_.empty(); kept_.pop_front()) {
      Failure& first = *kept_.front();
      if (!first.told) return TellOf(first);
    }
    return {};
  }

  static Status TellOf(Failure& failure) {
    failure.told = true;
    return failure.status;
  }

 private:
  static constexpr size_t kKept = 64;
  std::deque<std::shared_ptr<Failure>> kept_;
};

}  // namespace mxc::runtime
