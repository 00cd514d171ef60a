// SPDX-License-Identifier: Apache-2.0
// A loss head: what an output of the network holds, and what the label that it
// is compared with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/status.h"

namespace mxc::train {

enum class HeadKind {
  kClasses,        // probabilities of classes; the label is a class's number
  kDistribution,   // probabilities of classes; so is the label
  kMargins,        // scores of classes; the label is a class's number
  kProbabilities,  // of each element to be true; the label is 0, 1 or between
  kValues,         // numbers, in the label, too
  kLoss,           // a loss; what it is of, nobody knows
};

struct Head {
  HeadKind kind = HeadKind::kLoss;
  int64_t output = 0;  // of the network's outputs
  int64_t label = -1;  // of its label inputs; -1: none has it as it comes
  int64_t axis = 1;    // of the classes, in the output
  int64_t classes = 0;

  bool operator==(const Head&) const = default;
};

// "classes 0 0 1 10", the form in an artifact's manifest: the fields in their
// order.
std::string HeadText(const Head& head);
StatusOr<Head> ParseHead(std::string_view text);

}  // namespace mxc::train
