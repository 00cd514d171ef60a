// SPDX-License-Identifier: Apache-2.0
// Which symbol comes next, of what a language model says of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mxc::run {

struct ChoiceOptions {
  double temperature = 1;  // 0: the likeliest
  int64_t top_k = 0;       // draw from so many of the likeliest; 0: from all
  double top_p = 1;        // from the fewest that are likelier together, if < 1
  uint64_t seed = 0;
};

// With p, what the model says, a symbol is drawn with a probability that is
// proportional to p^(1 / temperature) among those that are left: first the
// `top_k` likeliest are, then, of them, the likeliest down to the one with which
// their share of the whole is `top_p` or more. Of equally likely ones those of
// lower numbers come first. A draw depends on the seed and on its own number
// alone (Philox), not on the draws before it.
class Chooser {
 public:
  explicit Chooser(const ChoiceOptions& options) : options_(options) {}

  // Draw `index` of text `text`, one of the first `symbols` (1 or more) of
  // `said`, which is without NaN: probabilities, or, where these cannot be (some
  // are below 0, or they sum up to another number than 1), logarithms of what is
  // proportional to them.
  uint32_t Choose(std::span<const float> said, size_t symbols, uint64_t text,
                  uint64_t index);

 private:
  void Weigh(std::span<const float> said, size_t symbols);
  void Cut();
  double Draw(uint64_t text, uint64_t index) const;

  const ChoiceOptions options_;
  // Of the symbols that are left: how likely, and the number; by number.
  std::vector<std::pair<double, uint32_t>> left_;
};

}  // namespace mxc::run
