// SPDX-License-Identifier: Apache-2.0
// The harmonic mean of precision and recall.
#include "runtime/train/metrics/binary.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

double Share(double part, double rest) {
  return part + rest > 0 ? part / (part + rest) : 0;
}

double F1(const BinaryCounts& counts) {
  const double precision = Share(counts.true_positives, counts.false_positives);
  const double recall = Share(counts.true_positives, counts.false_negatives);
  if (precision + recall == 0) return 0;
  return 2 * precision * recall / (precision + recall);
}

}  // namespace

std::unique_ptr<Metric> MakeMetric_f1(ArgumentReader& arguments,
                                      const std::string&) {
  return std::make_unique<BinaryMetric>(arguments, "f1", F1);
}

}  // namespace mxc::train
