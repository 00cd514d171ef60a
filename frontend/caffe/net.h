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

// Nets have some ten thousand messages at most; a layer takes two bytes in a file
// and a thousand in memory.
inline constexpr size_t kMostMessages = 200'000;

// In either form.
Result<std::shared_ptr<const Net>> ReadNet(const NetworkSource& source);

bool IsNetText(const NetworkSource& source);
bool IsSolverText(const NetworkSource& source);
bool IsNetBytes(std::span<const std::byte> bytes);  // a .caffemodel

// The layers that a net has in a state, by their rules. Source:
// Net::FilterNet of BVLC/caffe.
Result<std::vector<const LayerParameter*>> LayersFor(const Net& net,
                                                     const NetworkState& state);

}  // namespace mxc::caffe
