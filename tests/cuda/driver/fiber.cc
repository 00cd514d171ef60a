// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/driver/fiber.h"

#include <cstdint>
#include <cstring>
#include <utility>

#if !defined(__x86_64__)
#error "the switch between fibers is written for x86-64"
#endif

// Leaves what a function must keep (System V ABI) on the stack at hand, its top
// in *from, and goes on where `to` was left. A fiber begins in
// mxc_fiber_begin, with its function in %r12 and the argument in %r13.
extern "C" void mxc_fiber_switch(void** from, void* to);
extern "C" void mxc_fiber_begin();
asm(R"(
.pushsection .text
.hidden mxc_fiber_switch
.globl mxc_fiber_switch
.type mxc_fiber_switch, @function
mxc_fiber_switch:
  endbr64
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size mxc_fiber_switch, .-mxc_fiber_switch
.hidden mxc_fiber_begin
.globl mxc_fiber_begin
.type mxc_fiber_begin, @function
mxc_fiber_begin:
  endbr64
  mov %r13, %rdi
  call *%r12
  ud2
.size mxc_fiber_begin, .-mxc_fiber_begin
.popsection
)");

namespace mxc::runtime {
namespace {

// As mxc_fiber_switch leaves them, from the top on. The stack is aligned to 16
// bytes where mxc_fiber_begin calls.
struct Kept {
  void *r15, *r14;
  void *r13, *r12;
  void *rbx, *rbp;
  void* returns_to;
  void* nothing[2];
};

}  // namespace

void Fiber::Start(std::byte* stack, size_t bytes, std::function<void()> body) {
  body_ = std::move(body);
  ended_ = false;
  Kept kept = {};
  kept.r13 = this;
  kept.r12 = reinterpret_cast<void*>(&Enter);
  kept.returns_to = reinterpret_cast<void*>(&mxc_fiber_begin);
  inside_ = stack + bytes - sizeof kept;
  std::memcpy(inside_, &kept, sizeof kept);
}

void Fiber::Resume() { mxc_fiber_switch(&outside_, inside_); }

void Fiber::Stop() { mxc_fiber_switch(&inside_, outside_); }

void Fiber::Enter(Fiber* fiber) {
  fiber->body_();
  fiber->ended_ = true;
  fiber->Stop();
}

}  // namespace mxc::runtime
