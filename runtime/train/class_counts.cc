// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/class_counts.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace mxc::train {
namespace {

double Share(int64_t part, int64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

template <class Weight>
ClassMeans MeanOf(const std::vector<ClassFigures>& classes, Weight&& weight) {
  ClassMeans sum;
  double all = 0;
  for (const ClassFigures& figures : classes) {
    const auto w = static_cast<double>(weight(figures));
    all += w;
    sum.precision += w * figures.precision;
    sum.recall += w * figures.recall;
    sum.f1 += w * figures.f1;
  }
  if (all == 0) return {};
  return {sum.precision / all, sum.recall / all, sum.f1 / all};
}

ConfusionMatrix* AddMatrix(MetricList& list) {
  auto matrix = std::make_unique<ConfusionMatrix>();
  ConfusionMatrix* added = matrix.get();
  list.Add(std::move(matrix));
  return added;
}

bool TellsClasses(const Head& head) {
  return head.label >= 0 && Fits(Metric::Asks::kClasses, head.kind);
}

}  // namespace

ClassCounts CountsOf(const ConfusionMatrix& matrix,
                     const std::vector<std::string>& names) {
  ClassCounts result{.names = names, .counts = {}};
  const auto met = static_cast<size_t>(matrix.classes());
  for (size_t k = names.size(); k < met; ++k) {
    result.names.push_back(std::to_string(k));
  }
  const size_t classes = result.classes();
  result.counts.resize(classes * classes);
  for (size_t label = 0; label < met; ++label) {
    for (size_t k = 0; k < met; ++k) {
      result.counts[label * classes + k] = static_cast<int64_t>(
          matrix.Count(static_cast<int64_t>(label), static_cast<int64_t>(k)));
    }
  }
  return result;
}

std::vector<ClassFigures> FiguresOf(const ClassCounts& counts) {
  std::vector<ClassFigures> figures(counts.classes());
  for (size_t label = 0; label < figures.size(); ++label) {
    for (size_t k = 0; k < figures.size(); ++k) {
      const int64_t count = counts.Count(label, k);
      figures[label].samples += count;
      figures[k].predicted += count;
      if (label == k) figures[k].right = count;
    }
  }
  for (ClassFigures& f : figures) {
    f.precision = Share(f.right, f.predicted);
    f.recall = Share(f.right, f.samples);
    f.f1 = Share(2 * f.right, f.samples + f.predicted);
  }
  return figures;
}

ClassMeans MacroMean(const std::vector<ClassFigures>& classes) {
  return MeanOf(classes, [](const ClassFigures& f) {
    return f.samples + f.predicted > 0 ? 1 : 0;
  });
}

ClassMeans WeightedMean(const std::vector<ClassFigures>& classes) {
  return MeanOf(classes, [](const ClassFigures& f) { return f.samples; });
}

std::vector<ConfusedPair> MostConfused(const ClassCounts& counts, size_t most) {
  std::vector<ConfusedPair> pairs;
  for (size_t label = 0; label < counts.classes(); ++label) {
    for (size_t k = 0; k < counts.classes(); ++k) {
      const int64_t count = counts.Count(label, k);
      if (label != k && count > 0) pairs.push_back({label, k, count});
    }
  }
  std::ranges::stable_sort(pairs, std::greater<>(), &ConfusedPair::count);
  if (pairs.size() > most) pairs.resize(most);
  return pairs;
}

bool ClassCounter::CanCount(const std::vector<Head>& heads) {
  if (std::ranges::count_if(heads, TellsClasses) != 1) return false;
  const Head& head = *std::ranges::find_if(heads, TellsClasses);
  const int64_t classes =
      head.kind == HeadKind::kProbabilities ? 2 : head.classes;
  return classes >= 2 && classes <= kMostClasses;
}

ClassCounter::ClassCounter(const std::vector<Head>& heads)
    : judge_(heads), matrix_(AddMatrix(list_)) {}

Status ClassCounter::OnBatch(const data::Batch& batch, const data::Iterator&,
                             const std::vector<FloatView>& outputs) {
  counts_ = counts_ && judge_.Update(batch, outputs, batch.pad, list_).ok();
  return {};
}

ClassCounts ClassCounter::Take(const std::vector<std::string>& names) {
  ClassCounts counts;
  if (std::exchange(counts_, true)) counts = CountsOf(*matrix_, names);
  list_.Reset();
  return counts;
}

}  // namespace mxc::train
