// SPDX-License-Identifier: Apache-2.0
// A trial as the words of `mxc train` that would make it.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/tune/record.h"
#include "runtime/tune/space.h"
#include "tools/train/training.h"

namespace mxc {

// "lr=0.01 batch-size=64"
std::string TextOf(const tune::Texts& parameters);

class TrialWords {
 public:
  // `training`: what `mxc tune` was told beside `own`, its own options. Refuses
  // settings that cannot be searched, or are given as well.
  static Result<TrialWords> Of(const Training& training,
                               const std::set<std::string>& own,
                               const tune::Space& space);

  // Of `mxc train`, MODEL first.
  std::vector<std::string> For(const tune::Texts& parameters) const;
  // Which trials share an artifact: those whose text is the same.
  std::string ArtifactOf(const tune::Texts& parameters) const;
  // Returns whether another value of this dimension makes another artifact.
  bool IsCompiled(size_t dimension) const {
    return spellings_[dimension].compiled;
  }
  // Returns whether initial values are to be drawn by each trial's own seed.
  bool searches_seed() const { return searches_seed_; }
  // What was given, for the head of a record.
  const std::vector<std::string>& given() const { return given_; }

 private:
  // "lr" → {"--lr", ""}; "data-opt.crop" → {"--data-opt", "crop="}; "momentum",
  // which is no option, → {"--opt", "momentum="}.
  struct Spelling {
    std::string option, before;
    bool compiled = false;  // it makes another artifact
  };

  std::vector<std::string> given_;
  std::vector<Spelling> spellings_;  // by dimension
  bool searches_seed_ = false;
};

}  // namespace mxc
