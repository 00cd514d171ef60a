// SPDX-License-Identifier: Apache-2.0
// Caffe's messages in the wire format of Protocol Buffers: a sample of a
// database, an array such as a mean picture, where a solver stands. Source: caffe.proto of
// BVLC/caffe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

struct CaffeDatum {
  int64_t channels = 0, height = 0, width = 0, label = 0;
  // Within the message: channel by channel, or an encoded picture.
  Bytes data;
  std::vector<float> floats;  // where there are no bytes
  bool encoded = false;

  int64_t elements() const { return channels * height * width; }
};

// Its extents are those of its data, unless they are encoded.
StatusOr<CaffeDatum> ParseCaffeDatum(Bytes message);

struct CaffeBlob {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

// The values of BlobProto, as many as the shape says.
StatusOr<CaffeBlob> ParseCaffeBlob(Bytes message);

struct CaffeSolverState {
  int64_t steps = 0;
  std::string learned_net;
  std::vector<CaffeBlob> history;
};

StatusOr<CaffeSolverState> ParseCaffeSolverState(Bytes message);

}  // namespace mxc::runtime
