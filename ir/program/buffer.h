// SPDX-License-Identifier: Apache-2.0
// Buffer: a value of a program and where its bytes lie.
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/tensor.h"
#include "ir/graph/tensor_use.h"
#include "ir/program/layout.h"

namespace mxc {

enum class BufferKind {
  kInput,     // the caller's, row-major, read only; some are not read at all
  kOutput,    // the caller reads it after the run, row-major
  kConstant,  // weights: bytes known when the artifact is written
  kInternal,  // in the arena of its place
  // A parameter, a moving statistic, a moment, a random counter: lives from run
  // to run, row-major, shared by all entries of an artifact under its name.
  kState,
  // What a state will be in the next run. The pass update-in-place makes it an
  // alias of its state; it is written after all reads of the old value.
  kNextState,
};

// Where a buffer's bytes are, and where the steps run that use them: a row of
// Program::places.
using Place = int;
// Where the target's kernels run.
inline constexpr Place kKernelPlace = 0;

struct Buffer {
  std::string name;  // the value's name in the user's network
  TensorType type;
  Layout layout;
  BufferKind kind = BufferKind::kInternal;
  TensorUse use = {};          // of inputs, outputs and states
  Place place = kKernelPlace;  // another: kInternal and kConstant only
  // kConstant: the bytes, row-major, whatever `layout` says; codegen lays them
  // out when it writes the artifact. kState: before the first run, zeros if
  // empty.
  Tensor constant;
  int state = -1;  // kNextState: the kState buffer
  // Shares the bytes of this buffer (a view, an in-place step, a part of a
  // concatenation), from `alias_begin` bytes on, or -1. The root of a chain of
  // aliases is the one that has an offset.
  int alias_of = -1;
  int64_t alias_begin = 0;
  // Storage plan: bytes from the start of its place's arena, kInternal roots
  // only.
  int64_t offset = -1;

  int64_t bytes() const { return layout.elements() * SizeOf(type.dtype); }
  // From its first byte to its last: more than bytes() where it is a window.
  int64_t reach_bytes() const { return layout.reach() * SizeOf(type.dtype); }
};

}  // namespace mxc
