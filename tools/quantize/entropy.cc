// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace mxc {
namespace {

constexpr double kEpsilon = 1e-4;  // what a bin without values counts as

// Takes from the bins with values what those without get; false where that is
// more than they have.
bool Smooth(std::vector<double>& bins) {
  const auto zeros = std::ranges::count(bins, 0.0);
  const auto others = std::ssize(bins) - zeros;
  if (others == 0) return false;
  const double taken =
      kEpsilon * static_cast<double>(zeros) / static_cast<double>(others);
  if (taken >= 1) return false;
  for (double& bin : bins) bin += bin == 0 ? kEpsilon : -taken;
  return true;
}

double Divergence(const std::vector<double>& p, const std::vector<double>& q) {
  const double sum_p = std::accumulate(p.begin(), p.end(), 0.0);
  const double sum_q = std::accumulate(q.begin(), q.end(), 0.0);
  double divergence = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] <= 0 || q[i] <= 0) continue;
    divergence += p[i] / sum_p * std::log(p[i] * sum_q / (q[i] * sum_p));
  }
  return divergence;
}

// The bins of each level have the level's mean, but those without values.
std::vector<double> KeptByLevels(std::span<const int64_t> inside,
                                 const std::vector<double>& limited,
                                 int levels) {
  const size_t width = inside.size() / static_cast<size_t>(levels);
  std::vector<double> kept(inside.size(), 0);
  for (size_t level = 0; level < static_cast<size_t>(levels); ++level) {
    const bool last = level + 1 == static_cast<size_t>(levels);
    const size_t begin = level * width;
    const size_t end = last ? inside.size() : begin + width;
    int64_t sum = 0, bins = 0;
    for (size_t i = begin; i < end; ++i) {
      sum += inside[i];
      bins += inside[i] != 0;
    }
    if (bins == 0) continue;
    const double mean = static_cast<double>(sum) / static_cast<double>(bins);
    for (size_t i = begin; i < end; ++i) {
      if (limited[i] != 0) kept[i] = mean;
    }
  }
  return kept;
}

// Of the threshold that is `half` bins beyond the middle one.
double DivergenceAt(std::span<const int64_t> histogram, size_t half,
                    int levels) {
  const size_t begin = histogram.size() / 2 - half;
  const size_t end = histogram.size() / 2 + half + 1;
  std::vector<int64_t> inside(histogram.begin() + static_cast<ptrdiff_t>(begin),
                              histogram.begin() + static_cast<ptrdiff_t>(end));
  std::vector<double> limited(inside.begin(), inside.end());
  for (size_t i = 0; i < begin; ++i) {
    limited.front() += static_cast<double>(histogram[i]);
  }
  for (size_t i = end; i < histogram.size(); ++i) {
    limited.back() += static_cast<double>(histogram[i]);
  }
  // MXNet counts the first bin among those below the threshold.
  inside.front() = 0;
  std::vector<double> kept = KeptByLevels(inside, limited, levels);
  if (!Smooth(kept) || !Smooth(limited)) {
    return std::numeric_limits<double>::infinity();
  }
  return Divergence(limited, kept);
}

}  // namespace

double EntropyThreshold(std::span<const int64_t> histogram, double greatest,
                        int levels) {
  const size_t middle = histogram.size() / 2;
  double least = std::numeric_limits<double>::infinity();
  size_t best = middle;
  for (size_t half = static_cast<size_t>(levels) / 2; half <= middle; ++half) {
    const double divergence = DivergenceAt(histogram, half, levels);
    if (divergence >= least) continue;
    least = divergence;
    best = half;
  }
  const double width = 2 * greatest / static_cast<double>(histogram.size());
  return (static_cast<double>(best) + 0.5) * width;
}

}  // namespace mxc
