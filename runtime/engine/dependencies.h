// SPDX-License-Identifier: Apache-2.0
// Which operations may run. One may as soon as all that were added before it and
// use one of its variables otherwise than both by reading are complete: what a
// program would do in order is done in an order that nobody can tell from it.
// Source: "MXNet: A Flexible and Efficient Machine Learning Library" (2015),
// section 3.2, and MXNet 1.9.1's src/engine/threaded_engine.h.
//
// Not for several threads at once, and without threads of its own: the engine
// has a lock around it, and tests walk through every order that can come. A
// process without memory for a queue ends, for half an operation cannot be taken
// back.
#pragma once

#include <memory>
#include <vector>

#include "runtime/engine/values.h"
#include "runtime/engine/variable.h"

namespace mxc::runtime {

class Dependencies {
 public:
  // Operations that may run now, each of them once.
  using Ready = std::vector<Pending*>;

  // `operation` lives until Complete. Uses of one variable become one.
  static void Add(Pending& operation, Ready& ready) noexcept;
  // The same where it may run at once; else false, and nothing was added.
  static bool TryAdd(Pending& operation);
  // It has run. What it wrote is there, or has failed if `failure` is not null.
  static void Complete(Pending& operation,
                       const std::shared_ptr<Failure>& failure,
                       Ready& ready) noexcept;

  // The same where each value has an outcome of its own.
  static void Complete(Pending& operation, const Values& outcomes,
                       Ready& ready) noexcept;

  // Of one that may run: what is wrong with its values.
  static Values ValuesOf(const Pending& operation);
  // Of one that may run: what is wrong with the first of the values that it
  // needs; null where nothing is. It is then not to run, but to fail with that.
  static std::shared_ptr<Failure> Inherited(const Pending& operation);

 private:
  static void Release(const Use& use, const std::shared_ptr<Failure>& failure,
                      Ready& ready);
  static void GrantWaiting(Variable& variable, Ready& ready);
};

}  // namespace mxc::runtime
