// SPDX-License-Identifier: Apache-2.0
// What decides which samples come in which order: it must be the same where
// training goes on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/train/status.h"

namespace mxc::train {

struct SampleFacts {
  std::string source;                // --data
  std::vector<std::string> options;  // --data-opt
  uint64_t seed = 0;
  bool shuffled = true;
  int64_t batch = 0;    // rows
  std::string summary;  // data::Iterator::summary
};

// A line for a checkpoint's notes, and what differs from one that was saved:
// "--seed was 0 and is 3". Empty where nothing does, or nobody noted it.
std::string SampleFactsText(const SampleFacts& facts);
std::string OtherSamples(const std::string& saved, const SampleFacts& now);

// A refusal of data::Iterator::Seek, with what differs.
Status ExplainSeek(const Status& refusal, const std::string& others);

}  // namespace mxc::train
