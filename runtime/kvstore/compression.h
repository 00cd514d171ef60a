// SPDX-License-Identifier: Apache-2.0
// What a gradient becomes on its way from a worker to a server. What a codec
// leaves out stays in the worker as a residual, which is added to the next
// gradient: residuals are state of the training.
//
//   none   float32
//   f16    half precision, rounded to even; no residual
//   2bit   r += g; r ≥ t: 11 and r −= t; r ≤ −t: 10 and r += t; else 00. Four
//          values a byte, the first in the two most significant bits, padded
//          to 16 values (MXNet 1.9.1, src/kvstore/gradient_compression-inl.h)
//   1bit   r += g; r > t: 1 and r −= 1; else 0 and r += 1; a 1 is +1, a 0 −1.
//          Eight values a byte, the first in the most significant bit, padded
//          to 32 values (MXNet 2.0, the same file)
//   1bit_cntk  of columns of 1984 values, the last one of what is left: v = r +
//          g, m and d their mean and mean distance from it, l = m − 2d, u = m +
//          2d as float32, then a bit for each, v ≥ m, in the order of 1bit; a 0
//          is l + (u − l) / 4, a 1 l + (u − l) · 3/4, r = v less that (CNTK,
//          Math/ColumnQuantizer.h). Where a value is the sum of what workers
//          push, that comes back so, too, with a residual on the server (1-bit
//          SGD, Seide et al. 2014: quantised twice)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

enum class Codec : uint8_t {
  kNone = 0,
  kF16 = 1,
  kTwoBit = 2,
  kOneBit = 3,
  kColumns = 4,  // 1bit_cntk
};

// Elements; their bytes divide a payload.
inline constexpr uint64_t kColumn = 1984;

struct Compression {
  Codec codec = Codec::kNone;
  float threshold = 0.5;

  bool has_residual() const {
    return codec == Codec::kTwoBit || codec == Codec::kOneBit ||
           codec == Codec::kColumns;
  }
  // Returns whether sums come back by it, too.
  bool both_ways() const { return codec == Codec::kColumns; }
  // Elements that are encoded together: nothing is cut within them.
  uint64_t unit() const { return codec == Codec::kColumns ? kColumn : 1; }
  std::string text() const;  // as ParseCompression takes it
};

// "none", "f16", "2bit", "2bit:threshold=0.1", "1bit:threshold=0", "1bit_cntk".
StatusOr<Compression> ParseCompression(std::string_view text);

uint64_t EncodedBytes(Codec codec, uint64_t elements);
// How many so many bytes hold; padding counts.
uint64_t ElementsOf(Codec codec, uint64_t encoded_bytes);

// `residual` has a value for each element, or none where the codec keeps none.
std::vector<std::byte> Encode(const Compression& compression,
                              std::span<const float> gradient,
                              std::span<float> residual);
// `encoded` has EncodedBytes; it may be a part of what was encoded.
void Decode(const Compression& compression, Bytes encoded,
            std::span<float> gradient);

}  // namespace mxc::kvstore
