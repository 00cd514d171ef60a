// SPDX-License-Identifier: Apache-2.0
// Which symbol comes next: how often each is drawn, and that draws depend on
// nothing but what is stated.
#include "tools/run/sample/chooser.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace mxc::run {
namespace {

constexpr size_t kDraws = 40000;

std::vector<double> Frequencies(const ChoiceOptions& options,
                                const std::vector<float>& said) {
  Chooser chooser(options);
  std::vector<double> drawn(said.size());
  for (size_t i = 0; i < kDraws; ++i) {
    ++drawn[chooser.Choose(said, said.size(), 0, i)];
  }
  for (double& count : drawn) count /= kDraws;
  return drawn;
}

// Five deviations of the frequency of independent draws; none of what is never
// drawn.
void CheckFrequencies(const std::vector<double>& drawn,
                      const std::vector<double>& expected) {
  REQUIRE(drawn.size() == expected.size());
  for (size_t i = 0; i < drawn.size(); ++i) {
    CAPTURE(i);
    const double p = expected[i];
    CHECK(std::abs(drawn[i] - p) <= 5 * std::sqrt(p * (1 - p) / kDraws));
  }
}

std::vector<uint32_t> Draws(const ChoiceOptions& options,
                            const std::vector<float>& said, uint64_t text,
                            size_t count) {
  Chooser chooser(options);
  std::vector<uint32_t> drawn;
  for (size_t i = 0; i < count; ++i) {
    drawn.push_back(chooser.Choose(said, said.size(), text, i));
  }
  return drawn;
}

const std::vector<float> kSaid = {0.1f, 0.4f, 0.2f, 0.3f};

}  // namespace

TEST_CASE("choice: as often as the model says") {
  CheckFrequencies(Frequencies({}, kSaid), {0.1, 0.4, 0.2, 0.3});
}

TEST_CASE("choice: what is no probability is the logarithm of one") {
  std::vector<float> logarithms;
  for (const float p : kSaid) logarithms.push_back(std::log(p) + 7);
  CheckFrequencies(Frequencies({}, logarithms), {0.1, 0.4, 0.2, 0.3});
  // Such as no exponent reaches.
  CheckFrequencies(Frequencies({}, {-1e30f, 1000, 1000}), {0, 0.5, 0.5});
}

TEST_CASE("choice: temperature is the root of what is said") {
  // Of the squares 1, 16, 4 and 9.
  CheckFrequencies(Frequencies({.temperature = 0.5}, kSaid),
                   {1 / 30.0, 16 / 30.0, 4 / 30.0, 9 / 30.0});
  CheckFrequencies(Frequencies({.temperature = 2}, {0.36f, 0.64f}),
                   {0.6 / 1.4, 0.8 / 1.4});
  // As small as no power of another symbol is.
  CheckFrequencies(Frequencies({.temperature = 1e-9}, kSaid), {0, 1, 0, 0});
}

TEST_CASE("choice: temperature 0 takes the likeliest, the first of several") {
  Chooser chooser({.temperature = 0});
  CHECK(chooser.Choose(kSaid, 4, 3, 5) == 1);
  const std::vector<float> tied = {0.2f, 0.4f, 0.4f};
  CHECK(chooser.Choose(tied, 3, 0, 0) == 1);
}

TEST_CASE("choice: symbols without a name are never drawn") {
  std::vector<double> drawn(4);
  Chooser chooser({});
  for (size_t i = 0; i < kDraws; ++i) {
    ++drawn[chooser.Choose(kSaid, 3, 0, i)];
  }
  for (double& count : drawn) count /= kDraws;
  CheckFrequencies(drawn, {1 / 7.0, 4 / 7.0, 2 / 7.0, 0});
  CHECK(Chooser({.temperature = 0})
            .Choose(std::vector{0.f, 0.3f, 0.7f}, 2, 0, 0) == 1);
}

TEST_CASE("choice: from the k likeliest, in their proportion") {
  CheckFrequencies(Frequencies({.top_k = 2}, kSaid), {0, 4 / 7.0, 0, 3 / 7.0});
  CheckFrequencies(Frequencies({.top_k = 1}, kSaid), {0, 1, 0, 0});
  CheckFrequencies(Frequencies({.top_k = 9}, kSaid), {0.1, 0.4, 0.2, 0.3});
  // Of equal ones the first.
  CheckFrequencies(Frequencies({.top_k = 2}, {0.2f, 0.2f, 0.4f, 0.2f}),
                   {1 / 3.0, 0, 2 / 3.0, 0});
}

TEST_CASE("choice: from the fewest whose share reaches p") {
  CheckFrequencies(Frequencies({.top_p = 0.6}, kSaid),
                   {0, 4 / 7.0, 0, 3 / 7.0});
  CheckFrequencies(Frequencies({.top_p = 0.8}, kSaid),
                   {0, 4 / 9.0, 2 / 9.0, 3 / 9.0});
  CheckFrequencies(Frequencies({.top_p = 1e-9}, kSaid), {0, 1, 0, 0});
  CheckFrequencies(Frequencies({.top_p = 0.5}, {0.25f, 0.25f, 0.25f, 0.25f}),
                   {0.5, 0.5, 0, 0});
  // Of what the temperature and top_k leave: 16, 9 and 4 of 29.
  CheckFrequencies(
      Frequencies({.temperature = 0.5, .top_k = 3, .top_p = 0.6}, kSaid),
      {0, 16 / 25.0, 0, 9 / 25.0});
}

TEST_CASE("choice: of many symbols the same are left as after sorting") {
  constexpr size_t kSymbols = 5000, kTop = 40;
  std::vector<float> said(kSymbols);
  for (size_t i = 0; i < kSymbols; ++i) {
    said[i] = 1 / (1 + static_cast<float>(i * 2357 % kSymbols));
  }
  const float sum = std::accumulate(said.begin(), said.end(), 0.0f);
  for (float& p : said) p /= sum;
  std::vector<size_t> order(kSymbols);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order,
                    [&](size_t a, size_t b) { return said[a] > said[b]; });
  double left = 0;
  for (size_t i = 0; i < kTop; ++i) left += static_cast<double>(said[order[i]]);
  std::vector<double> expected(kSymbols);
  for (size_t i = 0; i < kTop; ++i) {
    expected[order[i]] = static_cast<double>(said[order[i]]) / left;
  }
  CheckFrequencies(Frequencies({.top_k = kTop}, said), expected);
  // Half of one symbol more than the first 40.
  const double p = left + static_cast<double>(said[order[kTop]]) / 2;
  const double next = static_cast<double>(said[order[kTop]]);
  for (double& share : expected) share *= left / (left + next);
  expected[order[kTop]] = next / (left + next);
  CheckFrequencies(Frequencies({.top_p = p}, said), expected);
}

TEST_CASE("choice: a draw depends on seed, text and number alone") {
  const std::vector<float> said(64, 1 / 64.0f);
  const auto drawn = Draws({.seed = 5}, said, 2, 100);
  CHECK(Draws({.seed = 5}, said, 2, 100) == drawn);
  Chooser chooser({.seed = 5});
  for (size_t i = 100; i-- > 0;) {
    CHECK(chooser.Choose(said, 64, 7, i) ==
          Draws({.seed = 5}, said, 7, i + 1)[i]);
    CHECK(chooser.Choose(said, 64, 2, i) == drawn[i]);
  }
  // Others are independent: 1 of 64 is the same by chance.
  for (const auto& other :
       {Draws({.seed = 6}, said, 2, 100), Draws({.seed = 5}, said, 3, 100)}) {
    size_t same = 0;
    for (size_t i = 0; i < 100; ++i) same += drawn[i] == other[i] ? 1 : 0;
    CHECK(same < 12);
  }
}

}  // namespace mxc::run
