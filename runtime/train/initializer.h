// SPDX-License-Identifier: Apache-2.0
// Values for parameters: MXNet's initializers (MXNet 1.9.1
// python/mxnet/initializer.py).
//
//   zero, one, constant   value
//   uniform               scale=0.07
//   normal                sigma=0.01
//   xavier                rnd_type=uniform|gaussian, factor_type=avg|in|out,
//                         magnitude=3
//   msra (msraprelu)      factor_type=avg|in|out, slope=0.25
//   orthogonal            scale=1.414, rand_type=uniform|normal
//   bilinear
//   lstmbias              forget_bias=1
//   fusedrnn              num_hidden, num_layers, mode, bidirectional,
//                         forget_bias=1, init
//
// Written as on the command line, "xavier:gaussian,in,2" or
// "xavier:magnitude=2", or as in a symbol's __init__ attribute,
// ["xavier", {"magnitude": 2}].
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/specification.h"
#include "runtime/train/status.h"

namespace mxc::train {

class Initializer;

// What is to be filled. The numbers drawn depend on the seed and the name.
struct Target {
  std::string name;
  std::vector<int64_t> shape;
  std::span<float> values;  // row-major, as many as `shape` says
  uint64_t seed = 0;
  // What fused recurrent weights use for their pieces where they have no
  // initializer of their own.
  const Initializer* weights = nullptr;
};

// One rule. Constant once made.
class Initializer {
 public:
  virtual ~Initializer() = default;

  // Fills a weight; an error if the shape does not suit.
  virtual Status Fill(const Target& target) const = 0;
};

using InitializerRef = std::shared_ptr<const Initializer>;

StatusOr<InitializerRef> ParseInitializer(std::string_view text);

// Which rules on names apply.
enum class NameRules {
  kModule,  // MXNet's for a variable that a symbol describes (InitDesc)
  kString,  // MXNet's for a plain string
  kAny,     // both, and the names of moving statistics that Gluon exports: what
            // mxc uses
};

// Fills a variable by its name: "…weight" by `weights`, "…bias" with 0,
// "…gamma" with 1 and so on; a name without a rule is refused.
Status FillByName(const Initializer& weights, const Target& target,
                  NameRules rules = NameRules::kAny);

}  // namespace mxc::train
