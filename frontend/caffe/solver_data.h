// SPDX-License-Identifier: Apache-2.0
// The layers of data of the net that a solver names as sources of samples.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/caffe/net.h"

namespace mxc::caffe {

struct NetData {
  std::string source;  // "lmdb:folder"; empty: nothing here reads what it says
  std::string layer;   // whose it is
  int64_t batch = 0;   // 0: it does not say
  bool shuffles = false;
  // Of the source: those that always hold, and those that draw something.
  std::vector<AttrText> options, drawn;
  std::vector<std::string> notes;
};

// Of the first layer of data in that state; none: it has none. `find` says where
// a file lies.
Result<std::optional<NetData>> DataOf(
    const Net& net, const NetworkState& state,
    const std::function<std::string(Text)>& find);

// Layers that the net has in the phase TEST alone and that compute what is
// scored: neither sources nor measures.
Result<std::vector<std::string>> TestedAlone(const Net& net,
                                             const NetworkState& trained,
                                             const NetworkState& tested);

}  // namespace mxc::caffe
