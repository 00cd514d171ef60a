// SPDX-License-Identifier: Apache-2.0
#include "passes/least_cut.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace mxc {
namespace {

struct Prices {
  struct Pair {
    int a = 0, b = 0;
    double seconds = 0;
  };
  std::vector<double> no, yes;
  std::vector<Pair> pairs;

  int questions() const { return static_cast<int>(no.size()); }

  double Of(const std::vector<bool>& answers) const {
    double sum = 0;
    for (size_t q = 0; q < no.size(); ++q) sum += answers[q] ? yes[q] : no[q];
    for (const Pair& pair : pairs) {
      if (answers[pair.a] != answers[pair.b]) sum += pair.seconds;
    }
    return sum;
  }

  std::vector<bool> Answers() const {
    LeastCut cut;
    for (size_t q = 0; q < no.size(); ++q) {
      CHECK(cut.AddQuestion() == static_cast<int>(q));
    }
    for (size_t q = 0; q < no.size(); ++q) {
      cut.Price(static_cast<int>(q), no[q], yes[q]);
    }
    for (const Pair& pair : pairs) {
      cut.PriceDifference(pair.a, pair.b, pair.seconds);
    }
    return cut.Answers();
  }

  double Least() const {
    double least = LeastCut::kNever;
    for (unsigned bits = 0; bits < 1U << no.size(); ++bits) {
      std::vector<bool> answers;
      for (size_t q = 0; q < no.size(); ++q) {
        answers.push_back((bits >> q & 1) != 0);
      }
      least = std::min(least, Of(answers));
    }
    return least;
  }
};

TEST_CASE("answers cost as little as the cheapest of all") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> seconds(0, 1e-3);
  std::uniform_int_distribution<int> count(1, 9);
  for (int trial = 0; trial < 300; ++trial) {
    Prices prices;
    const int questions = count(random);
    for (int q = 0; q < questions; ++q) {
      prices.no.push_back(seconds(random));
      prices.yes.push_back(seconds(random));
    }
    for (int pair = count(random) + questions; pair > 0; --pair) {
      const auto any = [&] { return static_cast<int>(random() % questions); };
      prices.pairs.push_back({any(), any(), seconds(random) / 2});
    }
    CAPTURE(trial);
    CHECK(prices.Of(prices.Answers()) ==
          doctest::Approx(prices.Least()).epsilon(1e-6));
  }
}

TEST_CASE("what costs the same is answered no") {
  CHECK(Prices{{1e-3, 1e-3}, {1e-3, 1e-3}, {{0, 1, 1e-3}}}.Answers() ==
        std::vector<bool>{false, false});
  CHECK(Prices{{1e-3, 0}, {0, 1e-3}, {{0, 1, 1e-3}}}.Answers() ==
        std::vector<bool>{false, false});
}

TEST_CASE("a price of never is not paid") {
  CHECK(Prices{{LeastCut::kNever, 0}, {0.5, 1}, {{0, 1, 2}}}.Answers() ==
        std::vector<bool>{true, true});
}

// Of a network of so many layers: a second would be a hundred times what it
// takes.
TEST_CASE("a long chain is answered from end to end") {
  Prices prices;
  constexpr int kQuestions = 20000;
  for (int q = 0; q < kQuestions; ++q) {
    prices.no.push_back(q == 0 ? 1 : 1e-6);
    prices.yes.push_back(q + 1 == kQuestions ? 0.5 : 1e-6);
    if (q > 0) prices.pairs.push_back({q - 1, q, 2});
  }
  const std::vector<bool> answers = prices.Answers();
  CHECK(std::ranges::all_of(answers, [](bool yes) { return yes; }));
}

}  // namespace
}  // namespace mxc
