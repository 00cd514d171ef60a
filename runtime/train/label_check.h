// SPDX-License-Identifier: Apache-2.0
// Labels that are no class: no step learns from them, and no loss tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"

namespace mxc::train {

// Labels whose values are 0 to classes − 1.
struct ClassLabels {
  size_t index = 0;  // of Batch::labels
  int64_t classes = 0;
  std::optional<double> ignored;  // one that may stand for no class
};

class LabelCheck {
 public:
  explicit LabelCheck(std::vector<ClassLabels> labels)
      : labels_(std::move(labels)) {}

  // Counts the labels of a batch that are no class, its last `pad` rows aside.
  void Look(const data::Batch& batch, const data::Iterator& samples,
            int64_t pad = 0);

  int64_t count() const { return count_; }
  // "y.csv: line 4: label 12 is none of the classes 0 to 9"; empty: none yet.
  const std::string& first() const { return first_; }
  // The same with how many there are.
  std::string Warning() const;

 private:
  const std::vector<ClassLabels> labels_;
  std::vector<float> values_;
  int64_t count_ = 0;
  std::string first_;
};

}  // namespace mxc::train
