// SPDX-License-Identifier: Apache-2.0
// What Caffe's solver leaves behind and goes on from:
//
//   PREFIX_iter_N.caffemodel    layers with their blobs (NetParameter)
//   PREFIX_iter_N.solverstate   the number of updates, the file above, and the
//                               solver's history (SolverState)
//
// A layer is what names of states have in common: conv1_weight and conv1_bias are
// the blobs of conv1. Source: net.cpp, sgd_solver.cpp, caffe.proto of BVLC/caffe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/train/status.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

struct CaffeSnapshot {
  int64_t steps = 0;
  int64_t passed = 0;  // steps of a policy `multistep` that lie behind
};

// Why an optimizer's states cannot be told Caffe; empty: they can.
std::string CaffeLacks(const TrainFacts& facts);

// Both files. Refuses states of other types than float32.
Status WriteCaffeSnapshot(const std::string& prefix,
                          const CaffeSnapshot& snapshot, TrainStep& step);

struct CaffeState {
  int64_t steps = 0;
  std::string learned_net;  // a .caffemodel
  std::vector<std::vector<float>> history;
};

// Returns whether the file begins as a SolverState does, and not as a pickle.
bool IsCaffeState(const std::string& path);
StatusOr<CaffeState> ReadCaffeState(const std::string& path);

// Refuses a history of other blobs than the network's, and then changes nothing.
Status LoadCaffeState(const CaffeState& state, TrainStep& step);

}  // namespace mxc::train
