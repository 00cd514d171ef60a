// SPDX-License-Identifier: Apache-2.0
// How well each class is told from the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/train/metrics/confusion.h"
#include "runtime/train/score.h"

namespace mxc::train {

// Which classes were taken for which.
struct ClassCounts {
  std::vector<std::string> names;  // by the classes' numbers
  std::vector<int64_t> counts;     // label × prediction, row-major

  size_t classes() const { return names.size(); }
  int64_t Count(size_t label, size_t predicted) const {
    return counts[label * classes() + predicted];
  }
};

// Of the classes that have a name in `names`, and of all that were met, which are
// called by their numbers.
ClassCounts CountsOf(const ConfusionMatrix& matrix,
                     const std::vector<std::string>& names);

struct ClassFigures {
  int64_t samples = 0;    // whose label is the class
  int64_t predicted = 0;  // that were taken for it
  int64_t right = 0;      // both
  // 0 where nothing was taken for the class, or nothing is of it.
  double precision = 0, recall = 0, f1 = 0;
};

// By the classes' numbers.
std::vector<ClassFigures> FiguresOf(const ClassCounts& counts);

// Means over classes, as scikit-learn's classification_report has them.
struct ClassMeans {
  double precision = 0, recall = 0, f1 = 0;
};

// Each class that is some sample's label or prediction counts alike.
ClassMeans MacroMean(const std::vector<ClassFigures>& classes);
// Each counts as often as it has samples.
ClassMeans WeightedMean(const std::vector<ClassFigures>& classes);

// Samples of one class that were taken for another.
struct ConfusedPair {
  size_t label, predicted;
  int64_t count;
};

// The most frequent ones, of equals the first by number; at most `most`.
std::vector<ConfusedPair> MostConfused(const ClassCounts& counts, size_t most);

// Counts while samples are scored.
class ClassCounter : public ScoreListener {
 public:
  // Returns whether one of the heads, and no other, tells apart between 2 and
  // kMostClasses classes.
  static bool CanCount(const std::vector<Head>& heads);
  static constexpr int64_t kMostClasses = 1000;

  explicit ClassCounter(const std::vector<Head>& heads);

  // Never fails: from a label on that is no class there is nothing to count.
  Status OnBatch(const data::Batch& batch, const data::Iterator& samples,
                 const std::vector<FloatView>& outputs) override;

  // What was counted since the last call; of no class where a label was none.
  ClassCounts Take(const std::vector<std::string>& names);

 private:
  Judge judge_;
  MetricList list_;
  ConfusionMatrix* const matrix_;  // the list's
  bool counts_ = true;
};

}  // namespace mxc::train
