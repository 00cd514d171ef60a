// SPDX-License-Identifier: Apache-2.0
// The optimizer `caffe` against Caffe's solvers, written out here as
// src/caffe/solvers/*.cpp of BVLC/caffe has them: Normalize, Regularize,
// ComputeUpdateValue, Update.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/passes/fed_updates.h"

namespace mxc::caffe_updates {
namespace {

constexpr int kSize = 3, kSteps = 4;
using Vector = std::array<double, kSize>;

struct Setting {
  std::string type;
  bool l1 = false;
  double clip = -1;
};

constexpr double kDecay = 0.05, kMomentum = 0.9, kMomentum2 = 0.99,
                 kRmsDecay = 0.95, kDelta = 1e-3;

double RateAt(int step) { return 0.1 / (step + 1); }
Vector GradientAt(int step) {
  return {0.3 - 0.2 * step, -0.05 * (step + 1), 2.0 / (step + 1)};
}

double Norm(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

class CaffeSolver {
 public:
  explicit CaffeSolver(const Setting& setting) : s_(setting) {}

  void Step(int iteration, Vector diff) {
    const double norm = Norm(diff);
    if (s_.clip >= 0 && norm > s_.clip) {
      for (double& x : diff) x *= s_.clip / norm;
    }
    for (int i = 0; i < kSize; ++i) {
      const double sign = (weight[i] > 0) - (weight[i] < 0);
      diff[i] += kDecay * (s_.l1 ? sign : weight[i]);
      weight[i] -= Update(iteration, diff[i], h_[i], k_[i]);
    }
  }

  Vector weight = {0.5, -0.25, 1};

 private:
  double Update(int iteration, double g, double& h, double& k) const {
    const double rate = RateAt(iteration);
    const double old = h;
    if (s_.type == "SGD") return h = kMomentum * h + rate * g;
    if (s_.type == "Nesterov") {
      h = kMomentum * h + rate * g;
      return (1 + kMomentum) * h - kMomentum * old;
    }
    if (s_.type == "AdaGrad") {
      h += g * g;
      return rate * g / (std::sqrt(h) + kDelta);
    }
    if (s_.type == "RMSProp") {
      h = kRmsDecay * h + (1 - kRmsDecay) * g * g;
      return rate * g / (std::sqrt(h) + kDelta);
    }
    if (s_.type == "AdaDelta") {
      h = kMomentum * h + (1 - kMomentum) * g * g;
      const double step = g * std::sqrt((k + kDelta) / (h + kDelta));
      k = kMomentum * k + (1 - kMomentum) * step * step;
      return rate * step;
    }
    const int t = iteration + 1;
    h = kMomentum * h + (1 - kMomentum) * g;
    k = kMomentum2 * k + (1 - kMomentum2) * g * g;
    return rate * std::sqrt(1 - std::pow(kMomentum2, t)) /
           (1 - std::pow(kMomentum, t)) * h / (std::sqrt(k) + kDelta);
  }

  const Setting s_;
  Vector h_ = {}, k_ = {};
};

// Two parameters, so that the norm of all gradients is that of neither.
constexpr int kFirst = 2;
Tensor PartOf(const Vector& v, bool second) {
  std::vector<float> values;
  for (int i = second ? kFirst : 0; i < (second ? kSize : kFirst); ++i) {
    values.push_back(static_cast<float>(v[i]));
  }
  return Tensor::FromFloats(Shape{std::ssize(values)}, values);
}
constexpr const char* kNames[] = {"a_weight", "b_weight"};

Program PlanOf(const Setting& setting) {
  Graph graph;
  graph.training = graph.stateful = true;
  for (const bool second : {false, true}) {
    Node* weight = AddParameter(graph, kNames[second],
                                PartOf(CaffeSolver({}).weight, second));
    Node* gradient = AddInput(graph, second ? "db" : "da", weight->types[0]);
    graph.updates.emplace_back(weight, gradient->out());
  }
  TrainingOptions options;
  options.optimizer = "caffe";
  options.optimizer_attrs = {{"type", setting.type},
                             {"regularization", setting.l1 ? "L1" : "L2"},
                             {"momentum", std::to_string(kMomentum)},
                             {"momentum2", std::to_string(kMomentum2)},
                             {"rms_decay", std::to_string(kRmsDecay)},
                             {"delta", std::to_string(kDelta)},
                             {"wd", std::to_string(kDecay)},
                             {"clip_gradients", std::to_string(setting.clip)}};
  return PlanFed(std::move(graph), options);
}

void RunStep(const Program& program, int step, States& states) {
  const auto fed = [&](const Buffer& buffer) {
    return buffer.name == "da"   ? PartOf(GradientAt(step), false)
           : buffer.name == "db" ? PartOf(GradientAt(step), true)
                                 : Tensor::Filled(buffer.type, RateAt(step));
  };
  StepBy(program, fed, states);
}

void CheckSteps(const Setting& setting) {
  CAPTURE(setting.type);
  CAPTURE(setting.l1);
  CAPTURE(setting.clip);
  const Program program = PlanOf(setting);
  CaffeSolver caffe(setting);
  States states;
  for (int step = 0; step < kSteps; ++step) {
    RunStep(program, step, states);
    caffe.Step(step, GradientAt(step));
    for (int i = 0; i < kSize; ++i) {
      const bool second = i >= kFirst;
      CHECK(states.at(kNames[second]).At(second ? i - kFirst : i) ==
            doctest::Approx(caffe.weight[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("caffe: every solver goes where Caffe's goes") {
  for (const char* type :
       {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"}) {
    CheckSteps({type});
    CheckSteps({type, /*l1=*/true});
    CheckSteps({type, false, /*clip=*/0.7});
  }
}

// Which would clip the norm of one gradient, not of all.
TEST_CASE("caffe: a clipped norm is refused where parameters go one by one") {
  Graph graph;
  Node* weight = graph.AddVariable("a_weight");
  weight->role = VariableRole::kParameter;
  weight->constant = PartOf(CaffeSolver({}).weight, false);
  weight->types[0] = weight->constant.type();
  TrainingOptions options;
  options.optimizer = "caffe";
  CHECK(UpdateGraph(graph, *weight, options).ok());
  options.optimizer_attrs = {{"clip_gradients", "1"}};
  const auto update = UpdateGraph(graph, *weight, options);
  REQUIRE_FALSE(update.ok());
  CHECK(update.errors()[0].message.find("all parameters at once") !=
        std::string::npos);
}

}  // namespace
}  // namespace mxc::caffe_updates
