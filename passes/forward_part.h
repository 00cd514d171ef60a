// SPDX-License-Identifier: Apache-2.0
// Which steps of a training step are its forward part: what outputs depend on,
// and what gradients begin with, as far as it depends on no gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// Of a program that outlives it and does not change.
class ForwardPart {
 public:
  explicit ForwardPart(const Program& program);

  int steps() const { return static_cast<int>(forward_.size()); }
  bool forward(int step) const { return forward_[step]; }
  // After the forward part; a moving statistic that is updated within it is
  // neither.
  bool backward(int step) const {
    return step > last_forward_ && !forward_[step];
  }
  int writer(int buffer) const { return writer_[buffer]; }  // -1: none
  // Written by a forward step, into the arena.
  bool Made(int buffer) const {
    return writer_[buffer] >= 0 && forward_[writer_[buffer]] &&
           program_.buffers[buffer].kind == BufferKind::kInternal;
  }
  // Made, and read by a backward step.
  bool needed(int buffer) const { return needed_[buffer]; }
  int64_t Bytes(int step) const;  // that it makes
  // A clone needs buffers of its own for all outputs.
  bool Cloneable(int step) const;

 private:
  void MarkGradients();
  void MarkForward();
  std::vector<int> ReadByGradients() const;

  const Program& program_;
  int last_forward_ = -1;
  std::vector<int> writer_;
  std::vector<bool> of_gradients_, forward_, needed_;
};

}  // namespace mxc
