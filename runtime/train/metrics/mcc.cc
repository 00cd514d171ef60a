// SPDX-License-Identifier: Apache-2.0
// Matthews' correlation coefficient. Factors of the denominator that are zero
// are left out, as MXNet does.
#include <cmath>

#include "runtime/train/metrics/binary.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

double MatthewsCorrelation(const BinaryCounts& c) {
  double denominator = 1;
  for (const double factor : {c.true_positives + c.false_positives,
                              c.true_positives + c.false_negatives,
                              c.true_negatives + c.false_positives,
                              c.true_negatives + c.false_negatives}) {
    if (factor != 0) denominator *= factor;
  }
  return (c.true_positives * c.true_negatives -
          c.false_positives * c.false_negatives) /
         std::sqrt(denominator);
}

}  // namespace

std::unique_ptr<Metric> MakeMetric_mcc(ArgumentReader& arguments,
                                       const std::string&) {
  return std::make_unique<BinaryMetric>(arguments, "mcc", MatthewsCorrelation);
}

}  // namespace mxc::train
