// SPDX-License-Identifier: Apache-2.0
// Execution within a bound on memory: values are dropped to make room, and
// computed again when they are needed.
//
//   x = conv(d)            x = conv(d)
//   y = relu(x)            y = relu(x)          drop x
//   z = conv(y)       ⇒    z = conv(y)          drop y
//   …                      …
//   dw = conv'(y, dz)      x' = conv(d); y' = relu(x')
//                          dw = conv'(y', dz)
//
// The steps run in their order. If the next one does not fit, the value is
// dropped that has the largest bytes · (time until it is needed) / (time to
// compute it again, with all that this needs); as often as needed, also of what
// was computed again. That is Dynamic Tensor Rematerialization (Kirisame et
// al., 2021) with the future known. What only dropped values need, to be computed
// again, stays while there is room, and what a policy holds stays in any case.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program/program.h"
#include "passes/checkpoints.h"
#include "passes/pass.h"
#include "passes/sharing.h"

namespace mxc {

struct EvictionRun {
  Program program;     // with the steps that run again; in a valid order
  double seconds = 0;  // that these take
};

struct EvictionPolicy {
  double patience = 0;  // the power of how long nothing needs a value
  // By root: the last step until which it is there, -1 if nothing asks for that.
  std::vector<int> held;
};

class Eviction {
 public:
  Eviction(const PassContext& context, const Program& program);

  // Nothing if there is a step that does not fit. States that are updated in
  // place may make later steps wait, and so add to the bytes.
  std::optional<EvictionRun> Run(int64_t bytes,
                                 const EvictionPolicy& policy) const;
  EvictionCosts costs() const { return {seconds_, root_, evictable_}; }

 private:
  friend class EvictionReplay;

  // A buffer of its own, with its views.
  struct Value {
    int64_t bytes = 0;  // 0: not in the arena
    std::vector<int> buffers;
    std::vector<int> uses;  // steps that read it, ascending
  };

  const Program& program_;
  std::vector<int> writer_, root_;             // by buffer
  std::vector<Value> values_;                  // by root
  std::vector<bool> evictable_;                // by root: can be computed again
  std::vector<std::vector<SharePair>> pairs_;  // by step
  std::vector<double> seconds_;                // by step
  std::vector<double> clock_;  // when it starts, with nothing run again
};

}  // namespace mxc
