// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ir/program/inner_program.h"
#include "tools/driver/unplaced_error.h"
#include "tools/verify/loss_direction.h"
#include "tools/verify/loss_function.h"
#include "tools/verify/loss_programs.h"

namespace mxc {
namespace {

// Parameters are checked one by one as long as that takes less arithmetic than
// this; else in groups, a few at the least, since the loss's factor is fitted.
constexpr double kMostFlops = 1e10;
constexpr size_t kLeastGroups = 6;
constexpr double kEvaluations = 4;  // of the loss for a derivative, mostly
constexpr int kSmallerSteps = 3;    // each an eighth of the one before

size_t CountGroups(size_t parameters, double flops) {
  const double affordable = kMostFlops / (kEvaluations * std::max(flops, 1.0));
  if (affordable >= static_cast<double>(parameters)) return parameters;
  return std::min(parameters,
                  std::max(kLeastGroups, static_cast<size_t>(affordable)));
}

// The factor between a head's gradient and its loss's derivative that fits best;
// 1 where only kinks make it another.
double FittedFactor(const std::vector<Derivative>& derivatives) {
  double products = 0, squares = 0;
  for (const Derivative& d : derivatives) {
    if (!std::isfinite(d.rule) || !std::isfinite(d.differences)) continue;
    products += d.rule * d.differences;
    squares += d.differences * d.differences;
  }
  const double factor = squares > 0 ? products / squares : 1;
  return std::abs(factor - 1) < 1e-3 ? 1 : factor;
}

Diagnostic Wrong(const Derivative& d, const std::string& output, double factor,
                 double scale) {
  const double expected = factor * d.differences;
  Diagnostic wrong = UnplacedError(fmt::format(
      "the gradient of {} is wrong: along a random direction {}, central "
      "differences of '{}' give {}",
      d.Names(), d.rule, output, expected));
  wrong.notes = {
      fmt::format("relative to the largest derivative {:.1e}",
                  std::abs(d.rule - expected) / (scale > 0 ? scale : 1)),
      "BlockGrad, and what MXNet differentiates in its own way, differ from "
      "calculus on purpose"};
  return wrong;
}

// The gradients of one loss at the point where it is.
class LossCheck {
 public:
  LossCheck(const LossFunction& loss, GradientReport& report, WorkCount* count)
      : loss_(loss), report_(report), count_(count) {}

  // Compares along all parameters that have a gradient; `output` is the loss's.
  Status Run(const LossPrograms& programs, uint64_t seed,
             const std::string& output, double tolerance) {
    MXC_ASSIGN(directions_, MakeDirections(programs, loss_.inputs(), seed));
    const size_t groups =
        CountGroups(directions_.size(), InnerFlops(programs.loss));
    if (groups < directions_.size()) Balance(directions_);
    report_.parameters += static_cast<int>(directions_.size());
    if (count_ != nullptr) count_->total += static_cast<int64_t>(groups);
    std::vector<Directions> along(groups);
    for (size_t i = 0; i < directions_.size(); ++i) {
      along[i * groups / directions_.size()].push_back(&directions_[i]);
    }
    std::vector<Derivative> derivatives;
    MXC_RETURN_IF_ERROR(AcceptAtOnce(along, tolerance, derivatives));
    for (auto& group : along) {
      MXC_RETURN_IF_ERROR(Differentiate(std::move(group), derivatives));
    }
    return Compare(derivatives, output, tolerance);
  }

 private:
  // Takes the groups out whose difference over a small step agrees with the
  // gradient by far: no other step would say more.
  Status AcceptAtOnce(std::vector<Directions>& groups, double tolerance,
                      std::vector<Derivative>& derivatives) {
    std::vector<Derivative> first;
    double scale = 0;
    for (const auto& group : groups) {
      scale = std::max(scale, std::abs(RuleOf(group)));
    }
    for (const auto& group : groups) {
      Derivative derivative = {.along = group, .rule = RuleOf(group)};
      MXC_ASSIGN(derivative.differences,
                 loss_.SmallStepDerivative(group, tolerance * scale));
      first.push_back(std::move(derivative));
    }
    const double factor = FittedFactor(first);
    std::vector<Directions> rest;
    for (size_t i = 0; i < groups.size(); ++i) {
      const double error =
          std::abs(first[i].rule - factor * first[i].differences);
      if (!(error <= 0.1 * tolerance * scale)) {
        rest.push_back(std::move(groups[i]));
        continue;
      }
      derivatives.push_back(std::move(first[i]));
      if (count_ != nullptr) ++count_->done;
    }
    groups = std::move(rest);
    return Done{};
  }

  // Adds the derivatives of the group, of parts of it where the loss is not
  // smooth along all of it.
  Status Differentiate(Directions along, std::vector<Derivative>& derivatives) {
    Derivative derivative;
    derivative.along = std::move(along);
    derivative.rule = RuleOf(derivative.along);
    MXC_ASSIGN(const std::optional<double> found,
               loss_.ConvergedDerivative(derivative.along));
    if (count_ != nullptr) ++count_->done;
    if (found) {
      derivative.differences = *found;
      derivatives.push_back(std::move(derivative));
    } else if (derivative.along.size() == 1) {
      report_.rough.push_back(derivative.along[0]->parameter);
    } else {
      MXC_RETURN_IF_ERROR(DifferentiateHalves(derivative, derivatives));
    }
    return Done{};
  }

  Status DifferentiateHalves(const Derivative& whole,
                             std::vector<Derivative>& derivatives) {
    const auto middle = whole.along.begin() + std::ssize(whole.along) / 2;
    if (count_ != nullptr) count_->total += 2;
    MXC_RETURN_IF_ERROR(
        Differentiate({whole.along.begin(), middle}, derivatives));
    return Differentiate({middle, whole.along.end()}, derivatives);
  }

  Status Compare(const std::vector<Derivative>& derivatives,
                 const std::string& output, double tolerance) {
    const double factor = FittedFactor(derivatives);
    double scale = 0;
    for (const Derivative& d : derivatives) {
      scale = std::max(scale, std::abs(d.rule));
    }
    Diagnostics errors;
    for (const Derivative& d : derivatives) {
      MXC_ASSIGN(const double error, ErrorOf(d, factor, scale, tolerance));
      if (!(error <= tolerance) && loss_.cut_off()) {
        for (const Direction* along : d.along) {
          report_.cut_off.push_back(along->parameter);
        }
        continue;
      }
      ++report_.compared;
      if (error >= report_.largest) {
        report_.largest = error;
        report_.worst = d.Names();
      }
      if (error <= tolerance) continue;
      MXC_ASSIGN(const std::vector<Derivative> narrow,
                 Narrowed(d, factor, tolerance * scale));
      for (const Derivative& wrong : narrow) {
        errors.push_back(Wrong(wrong, output, factor, scale));
      }
    }
    if (!errors.empty()) return errors;
    return Done{};
  }

  // In parts of the largest derivative. Differences that are far off may have
  // passed kinks of a large network, of which smaller steps pass fewer; what a
  // wrong gradient is off by is off by any.
  Result<double> ErrorOf(const Derivative& d, double factor, double scale,
                         double tolerance) const {
    const double whole = scale > 0 ? scale : 1;
    const double error = std::abs(d.rule - factor * d.differences) / whole;
    double most = tolerance * scale;
    for (int i = 0; i < kSmallerSteps && error > tolerance; ++i, most *= 8) {
      MXC_ASSIGN(const double small, loss_.SmallStepDerivative(d.along, most));
      const double smaller = std::abs(d.rule - factor * small) / whole;
      if (smaller <= tolerance) return smaller;
    }
    return error;
  }

  // The parameters of a wrong group that are wrong by themselves; all of them,
  // if none is by more than that.
  Result<std::vector<Derivative>> Narrowed(const Derivative& wrong,
                                           double factor, double most) {
    std::vector<Derivative> narrow;
    if (wrong.along.size() > 1) {
      std::vector<Derivative> halves;
      MXC_RETURN_IF_ERROR(DifferentiateHalves(wrong, halves));
      for (const Derivative& half : halves) {
        if (std::abs(half.rule - factor * half.differences) <= most) continue;
        MXC_ASSIGN(const auto of_half, Narrowed(half, factor, most));
        narrow.insert(narrow.end(), of_half.begin(), of_half.end());
      }
    }
    if (narrow.empty()) narrow.push_back(wrong);
    return narrow;
  }

  const LossFunction& loss_;
  GradientReport& report_;
  WorkCount* count_;
  std::vector<Direction> directions_;
};

// Moves to the first of the points where the loss is finite and nothing of it cut
// off, else to one where it is finite. Whether there is one.
Result<bool> MoveToSmooth(LossFunction& loss, const LossPoints& points,
                          const std::string& output, GradientReport& report) {
  std::optional<size_t> cut_off;
  LossState first{}, state{};
  size_t p = 0;
  for (; p < points.count; ++p) {
    MXC_ASSIGN(const auto inputs, points.at(p));
    MXC_ASSIGN(state, loss.MoveTo(inputs));
    if (p == 0) first = state;
    if (state == LossState::kSmooth) break;
    if (state == LossState::kCutOff && !cut_off) cut_off = p;
  }
  if (state != LossState::kSmooth) {
    if (!cut_off) {
      report.not_finite.push_back(output);
      return false;
    }
    p = *cut_off;
    MXC_ASSIGN(const auto inputs, points.at(p));
    MXC_ASSIGN(state, loss.MoveTo(inputs));
  }
  if (p > 0) report.moved.push_back({output, p, first == LossState::kCutOff});
  return true;
}

}  // namespace

Result<GradientReport> CheckGradients(const CompileRequest& request,
                                      LoadedNetwork& network,
                                      const LossPoints& points,
                                      double tolerance, WorkCount* count) {
  MXC_ASSIGN(const Model model,
             network.Specialize(request.First(), ParameterUse::kStates));
  GradientReport report;
  for (size_t k = 0; k < model.graph.outputs.size(); ++k) {
    MXC_ASSIGN(const Graph alone, GraphOfOutput(request, network, k));
    if (!HasLossHead(alone)) continue;
    MXC_ASSIGN(const LossPrograms programs,
               MakeLossPrograms(request, network, k));
    const std::string& output = alone.output_names[0];
    LossFunction loss(programs);
    MXC_ASSIGN(const bool finite, MoveToSmooth(loss, points, output, report));
    if (!finite) continue;
    MXC_RETURN_IF_ERROR(
        LossCheck(loss, report, count)
            .Run(programs, network.request().seed + k, output, tolerance));
  }
  return report;
}

}  // namespace mxc
