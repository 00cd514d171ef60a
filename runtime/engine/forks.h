// SPDX-License-Identifier: Apache-2.0
// Engines over a fork: it waits until nothing is pending, and the child begins
// without threads.
#pragma once

namespace mxc::runtime {

class Engine;

class Forks {
 public:
  static void Watch(Engine& engine);
  static void Forget(const Engine& engine);

 private:
  static void Prepare();
  static void InParent();
  static void InChild();
};

}  // namespace mxc::runtime
