// SPDX-License-Identifier: Apache-2.0
// A Caffe net as its file says it, brought to the newest generation.
#pragma once

#include <memory>
#include <vector>

#include "frontend/caffe/schema.h"
#include "frontend/frontend.h"
#include "frontend/network_source.h"

namespace mxc::caffe {

// Texts of `net` point into the file or into `storage`.
struct Net {
  std::shared_ptr<const void> owner;         // of the bytes
  std::shared_ptr<const SourceFile> source;  // the text, or the name alone
  protobuf::Storage storage;
  NetParameter net;
  Diagnostics notes;  // what was passed over
};

// In either form.
Result<std::shared_ptr<const Net>> ReadNet(const NetworkSource& source);

// The same of a solver, whose form is the text.
struct Solver {
  std::shared_ptr<const SourceFile> source;
  protobuf::Storage storage;
  SolverParameter solver;
};
Result<std::shared_ptr<const Solver>> ReadSolver(
    std::shared_ptr<const SourceFile> source);

bool IsNetText(const NetworkSource& source);
bool IsSolverText(const NetworkSource& source);
bool IsNetBytes(std::span<const std::byte> bytes);  // a .caffemodel

// The layers that a net has in a state, by their rules. Source:
// Net::FilterNet of BVLC/caffe.
Result<std::vector<const LayerParameter*>> LayersFor(const Net& net,
                                                     const NetworkState& state);

}  // namespace mxc::caffe
