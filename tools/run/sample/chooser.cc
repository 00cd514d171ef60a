// SPDX-License-Identifier: Apache-2.0
#include "tools/run/sample/chooser.h"

#include <algorithm>
#include <cmath>

#include "runtime/train/random.h"

namespace mxc::run {
namespace {

using Weighed = std::pair<double, uint32_t>;

// How far the sum of f32 probabilities may be off.
constexpr double kOffOne = 1e-3;

bool AreProbabilities(std::span<const float> said) {
  double sum = 0;
  for (const float p : said) {
    if (p < 0) return false;
    sum += static_cast<double>(p);
  }
  return std::abs(sum - 1) < kOffOne;
}

bool MoreLikely(const Weighed& a, const Weighed& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}
bool LessLikely(const Weighed& a, const Weighed& b) { return MoreLikely(b, a); }

double SumOf(std::span<const Weighed> weights) {
  double sum = 0;
  for (const Weighed& weighed : weights) sum += weighed.first;
  return sum;
}

}  // namespace

uint32_t Chooser::Choose(std::span<const float> said, size_t symbols,
                         uint64_t text, uint64_t index) {
  if (options_.temperature == 0) {
    const auto known = said.first(symbols);
    return static_cast<uint32_t>(std::ranges::max_element(known) -
                                 known.begin());
  }
  Weigh(said, symbols);
  Cut();
  double rest = Draw(text, index) * SumOf(left_);
  uint32_t last = left_.front().second;
  for (const auto& [weight, symbol] : left_) {
    if (weight > 0) last = symbol;
    rest -= weight;
    if (rest < 0) return symbol;
  }
  return last;
}

// The likeliest has the weight 1, so that no temperature leaves none.
void Chooser::Weigh(std::span<const float> said, size_t symbols) {
  const auto most = static_cast<double>(std::ranges::max(said.first(symbols)));
  const double sharpness = 1 / options_.temperature;
  const bool probabilities = AreProbabilities(said);
  const auto weight = [&](double value) {
    if (value == most) return 1.0;
    if (!probabilities) return std::exp((value - most) * sharpness);
    const double share = value / most;
    return sharpness == 1 ? share : std::pow(share, sharpness);
  };
  left_.resize(symbols);
  for (size_t i = 0; i < symbols; ++i) {
    left_[i] = {weight(static_cast<double>(said[i])), static_cast<uint32_t>(i)};
  }
}

void Chooser::Cut() {
  const auto most = static_cast<uint64_t>(options_.top_k);
  const bool counted = most > 0 && most < left_.size();
  if (counted) {
    const auto end = left_.begin() + static_cast<int64_t>(most);
    std::nth_element(left_.begin(), end, left_.end(), MoreLikely);
    left_.erase(end, left_.end());
  }
  if (options_.top_p < 1) {
    const double wanted = options_.top_p * SumOf(left_);
    // The likeliest go, one by one, from the heap to behind it.
    auto heap_end = left_.end();
    std::ranges::make_heap(left_, LessLikely);
    double share = 0;
    do {
      std::pop_heap(left_.begin(), heap_end--, LessLikely);
      share += heap_end->first;
    } while (share < wanted && heap_end != left_.begin());
    left_.erase(left_.begin(), heap_end);
  }
  if (counted || options_.top_p < 1) {
    std::ranges::sort(left_, {}, &Weighed::second);
  }
}

double Chooser::Draw(uint64_t text, uint64_t index) const {
  // Counters are 64 bits: 2^24 texts of 2^40 symbols do not meet.
  const auto numbers =
      train::RandomStream(options_.seed, "sample").At((text << 40) | index);
  const uint64_t bits = uint64_t{numbers[0]} << 32 | numbers[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace mxc::run
