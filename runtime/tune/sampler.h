// SPDX-License-Identifier: Apache-2.0
// Where in the space a trial lies: a function of the seed, the trial's number
// and what is known of trials that ended before it, and of nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/tune/space.h"

namespace mxc::tune {

// For each dimension a number in [0, 1).
using Position = std::vector<double>;

// What is known of a trial.
struct Observation {
  Position position;
  int64_t epochs = 0;  // that it has made
  double score = 0;    // less is better; infinity: it failed
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual Position Draw(int64_t trial,
                        const std::vector<Observation>& known) const = 0;
};

// "random": each trial by itself. "tpe": the tree-structured Parzen estimator
// (Bergstra et al., Algorithms for Hyper-Parameter Optimization, NIPS 2011,
// section 4), each dimension by itself, over the trials with the most epochs
// of which there are enough. Null: the name is unknown.
std::unique_ptr<Sampler> MakeSampler(const std::string& name,
                                     const Space& space, uint64_t seed);

}  // namespace mxc::tune
