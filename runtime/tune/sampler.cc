// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/sampler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "runtime/data/random.h"

namespace mxc::tune {
namespace {

data::Draws DrawsOf(uint64_t seed, int64_t trial) {
  return data::Draws(data::Key(data::Key(seed, 0x7475'6e65),  // "tune"
                               static_cast<uint64_t>(trial)));
}

class RandomSampler : public Sampler {
 public:
  RandomSampler(size_t dimensions, uint64_t seed)
      : dimensions_(dimensions), seed_(seed) {}

  Position Draw(int64_t trial, const std::vector<Observation>&) const override {
    data::Draws draws = DrawsOf(seed_, trial);
    Position position(dimensions_);
    for (double& x : position) x = draws.Unit();
    return position;
  }

 private:
  const size_t dimensions_;
  const uint64_t seed_;
};

// A density over [0, 1): a mixture of the uniform one and a bell around each
// point, or of a choice the share of each value, every one counted once more.
class Density {
 public:
  // `width` of the bells, whose range is 1.
  Density(const Dimension& dimension, std::vector<double> points, double width)
      : choices_(dimension.kind == Dimension::Kind::kChoice
                     ? dimension.choices.size()
                     : 0),
        points_(std::move(points)),
        width_(width) {}

  double At(double x) const {
    double sum = 1;
    for (const double point : points_) sum += Kernel(x, point);
    return sum / (static_cast<double>(points_.size()) + 1);
  }

  double Draw(data::Draws& draws) const {
    const uint64_t which = draws.Below(points_.size() + 1);
    if (which == points_.size()) return draws.Unit();
    const double point = points_[which];
    if (choices_ > 0) return Within(point, draws.Unit());
    constexpr int kMostTries = 32;
    for (int i = 0; i < kMostTries; ++i) {
      const double x = point + width_ * Normal(draws);
      if (x >= 0 && x < 1) return x;
    }
    return point;
  }

 private:
  // Positions of the same value of a choice.
  double Within(double point, double unit) const {
    const auto count = static_cast<double>(choices_);
    return (std::floor(point * count) + unit) / count;
  }
  double Kernel(double x, double point) const {
    if (choices_ > 0) {
      const auto count = static_cast<double>(choices_);
      const bool same = std::floor(x * count) == std::floor(point * count);
      return same ? count : 0;
    }
    const double z = (x - point) / width_;
    const auto below = [&](double end) {
      return 0.5 * std::erfc(-(end - point) / width_ / std::sqrt(2.0));
    };
    constexpr double kRootOfTwoPi = 2.5066282746310002;
    return std::exp(-0.5 * z * z) / (kRootOfTwoPi * width_) /
           (below(1) - below(0));
  }
  static double Normal(data::Draws& draws) {
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(1 - draws.Unit()));
    return radius * std::cos(kTwoPi * draws.Unit());
  }

  const size_t choices_;  // 0: it is a range
  const std::vector<double> points_;
  const double width_;
};

class TpeSampler : public Sampler {
 public:
  TpeSampler(const Space& space, uint64_t seed)
      : space_(space), seed_(seed), random_(space.size(), seed) {}

  Position Draw(int64_t trial,
                const std::vector<Observation>& known) const override {
    const std::vector<Observation> ranked = Comparable(known);
    if (ranked.empty()) return random_.Draw(trial, known);
    const auto good = static_cast<ptrdiff_t>(
        std::ceil(kGoodShare * static_cast<double>(ranked.size())));
    data::Draws draws = DrawsOf(seed_, trial);
    Position position;
    for (size_t i = 0; i < space_.size(); ++i) {
      std::vector<double> better, worse;
      for (ptrdiff_t k = 0; k < std::ssize(ranked); ++k) {
        const double at = ranked[static_cast<size_t>(k)].position[i];
        (k < good ? better : worse).push_back(at);
      }
      // One width for both: else their ratio tells how wide they are.
      const double width =
          kWidth * std::pow(static_cast<double>(better.size()), -1.0 / 3);
      position.push_back(DrawBest(Density(space_[i], std::move(better), width),
                                  Density(space_[i], std::move(worse), width),
                                  draws));
    }
    return position;
  }

 private:
  static constexpr size_t kFirst = 8;  // trials that are drawn at random
  static constexpr double kGoodShare = 0.25;
  static constexpr double kWidth = 0.25;
  static constexpr int kCandidates = 24;

  // The trials that have made the most epochs of which there are enough, the
  // best first.
  static std::vector<Observation> Comparable(
      const std::vector<Observation>& known) {
    std::map<int64_t, std::vector<Observation>, std::greater<>> by_epochs;
    for (const Observation& seen : known) {
      by_epochs[seen.epochs].push_back(seen);
    }
    for (auto& [epochs, seen] : by_epochs) {
      if (seen.size() < kFirst) continue;
      std::ranges::stable_sort(seen, {}, &Observation::score);
      return seen;
    }
    return {};
  }

  static double DrawBest(const Density& better, const Density& worse,
                         data::Draws& draws) {
    double best = 0, most = -1;
    for (int i = 0; i < kCandidates; ++i) {
      const double x = better.Draw(draws);
      const double ratio = better.At(x) / worse.At(x);
      if (ratio > most) {
        most = ratio;
        best = x;
      }
    }
    return best;
  }

  const Space space_;
  const uint64_t seed_;
  const RandomSampler random_;
};

}  // namespace

std::unique_ptr<Sampler> MakeSampler(const std::string& name,
                                     const Space& space, uint64_t seed) {
  if (name == "random") {
    return std::make_unique<RandomSampler>(space.size(), seed);
  }
  if (name == "tpe") return std::make_unique<TpeSampler>(space, seed);
  return nullptr;
}

}  // namespace mxc::tune
