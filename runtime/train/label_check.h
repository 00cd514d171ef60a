// SPDX-License-Identifier: Apache-2.0
// Labels that a network cannot mean: numbers that are no class, or no
// probability. No step learns from them what was meant, and no loss tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/head.h"

namespace mxc::train {

// Labels whose values are 0 to classes − 1.
struct ClassLabels {
  size_t index = 0;  // of Batch::labels
  int64_t classes = 0;
  std::optional<double> ignored;  // one that may stand for no class

  // Returns whether the network learns from the label, which it cuts to a whole
  // number.
  bool Counts(float label) const {
    const bool within = label > -1 && label < static_cast<float>(classes);
    return within && !(ignored && static_cast<double>(label) == *ignored);
  }
};

class LabelCheck {
 public:
  // Of the heads those whose labels are probabilities, or one for each class.
  LabelCheck(std::vector<ClassLabels> labels, const std::vector<Head>& heads);

  // Counts the labels of a batch that are wrong, its last `pad` rows aside.
  void Look(const data::Batch& batch, const data::Iterator& samples,
            int64_t pad = 0);

  int64_t count() const { return count_; }
  // "y.csv: line 4: label 12 is none of the classes 0 to 9"; empty: none yet.
  const std::string& first() const { return first_; }
  // What becomes of it: "nothing is learned from such labels".
  const std::string& consequence() const { return consequence_; }
  // "3 labels are no class", of the sort of the first.
  std::string Counted() const;
  // The first one, and how many there are where there are more.
  std::string Warning() const;

 private:
  template <class Wrong>
  void LookAt(size_t label, size_t width, const data::Batch& batch,
              const data::Iterator& samples, int64_t pad, Wrong&& wrong);

  const std::vector<ClassLabels> labels_;
  std::vector<size_t> probabilities_;  // of Batch::labels
  // Of the same, and how many classes each has.
  std::vector<std::pair<size_t, size_t>> distributions_;
  std::vector<float> values_;
  int64_t count_ = 0;
  std::string first_, consequence_, sort_;
};

}  // namespace mxc::train
