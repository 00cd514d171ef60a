// SPDX-License-Identifier: Apache-2.0
#include "tools/verify_gradient.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>
#include <random>
#include <span>

#include "ir/program/inner_program.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "tools/difference.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

using Tensors = std::map<std::string, Tensor>;

// The loss of one output as a function of the parameters. Cross entropies count
// no probability below FLT_MIN, while their gradients know no such end: the
// losses here end far below, at two places, and differ where that counts.
struct LossPrograms {
  Program loss;                      // outputs: the network's, loss
  std::optional<Program> other_end;  // missing: nothing is cut off
  Program gradients;  // outputs: the network's, loss, grad:NAME …
};

bool HasLossHead(const Graph& graph) {
  return std::ranges::any_of(graph.TopologicalOrder(), [](const Node* node) {
    return node->op != nullptr && node->op->loss_head;
  });
}

// What is left of the network when only one of its outputs is asked for.
Result<Graph> GraphOfOutput(const CompileRequest& request,
                            LoadedNetwork& network, size_t output) {
  MXC_ASSIGN(Model model,
             network.Specialize(request.First(), ParameterUse::kStates));
  Graph& graph = model.graph;
  graph.training = true;
  graph.outputs = {graph.outputs[output]};
  graph.output_names = {graph.output_names[output]};
  return std::move(graph);
}

Result<Program> PlainProgram(Graph graph, const TrainingOptions& training) {
  MXC_ASSIGN(const Target target, ResolveTarget("x86-64-v2"));
  PassContext context;
  context.target = &target;
  context.training = &training;
  PassOptions passes;
  passes.level = 0;
  return RunPipeline(std::move(graph), context, passes);
}

// Lets the logarithms of probabilities that FLT_MIN cuts off end at `least`.
// Whether there are any.
bool CutOffAt(double least, Program& loss) {
  bool any = false;
  const auto is_end = [](const Expr& e) {
    return e->kind == ExprKind::kConst && IsFloat(e->dtype) &&
           std::abs(static_cast<double>(e->number) / FLT_MIN - 1) < 1e-5;
  };
  const auto moved = [&](const Expr& e) {
    const bool cut = e->kind == ExprKind::kBinary &&
                     e->binary == BinaryOp::kMax && is_end(e->args[1]);
    if (!cut) return Expr();
    any = true;
    return Cast(
        Max(Cast(e->args[0], DType::kF64), Constant(least, DType::kF64)),
        e->dtype);
  };
  for (Step& step : loss.steps) {
    step.body.VisitExprs([&](Expr& e) { e = Rewrite(e, moved); });
  }
  return any;
}

Result<LossPrograms> MakePrograms(const CompileRequest& request,
                                  LoadedNetwork& network, size_t output) {
  TrainingOptions training = request.training;
  training.optimizer.clear();
  LossPrograms programs;
  MXC_ASSIGN(Graph graph, GraphOfOutput(request, network, output));
  TrainingOptions fixed = training;
  for (const Node* node : graph.Variables(VariableRole::kParameter)) {
    fixed.fixed.insert(node->name);
  }
  MXC_ASSIGN(programs.loss, PlainProgram(std::move(graph), fixed));
  programs.other_end = programs.loss;
  if (!CutOffAt(1e-290, *programs.other_end)) programs.other_end.reset();
  CutOffAt(1e-300, programs.loss);
  MXC_ASSIGN(Graph again, GraphOfOutput(request, network, output));
  MXC_ASSIGN(programs.gradients, PlainProgram(std::move(again), training));
  return programs;
}

// Its initial value; empty if the program does not read it.
Tensor ValueOf(const Program& program, const std::string& state) {
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.name != state) continue;
    return buffer.constant.empty() ? Tensor::Filled(buffer.type, 0)
                                   : buffer.constant;
  }
  return {};
}

constexpr FloatArithmetic kInDouble = {.all_double = true};

// Values of BuffersOf(kOutput) by name.
Tensors OutputsByName(const Program& program, std::span<const Tensor> values) {
  Tensors outputs;
  size_t next = 0;
  for (const int b : program.BuffersOf(BufferKind::kOutput)) {
    outputs[program.buffers[b].name] = values[next++];
  }
  return outputs;
}

// The first step that reads each state, by name; states that none reads are
// missing.
std::map<std::string, size_t> FirstReaders(const Program& program) {
  std::map<std::string, size_t> readers;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.kind == BufferKind::kState) {
        readers.try_emplace(buffer.name, s);
      }
    }
  }
  return readers;
}

// How a parameter is moved: by ±scale, each of its elements by chance.
struct Direction {
  std::string parameter;
  Tensor value;
  std::vector<bool> up;
  double scale = 1;
  double rule = 0;  // the loss's derivative along it, by the gradient

  double At(size_t i) const { return up[i] ? scale : -scale; }
};

// value + by · direction, in f64.
Tensor Moved(const Direction& direction, double by) {
  std::byte* bytes = nullptr;
  const Tensor& value = direction.value;
  Tensor moved = Tensor::Allocate({DType::kF64, value.shape()}, &bytes);
  for (size_t i = 0; i < direction.up.size(); ++i) {
    StoreElement(bytes + i * sizeof(double), DType::kF64,
                 value.At(static_cast<int64_t>(i)) + by * direction.At(i));
  }
  return moved;
}

// A derivative of the loss: several parameters are moved at once.
struct Derivative {
  std::vector<const Direction*> along;
  double rule = 0, differences = 0;

  std::string Names() const {
    std::vector<std::string> names;
    for (const Direction* d : along) names.push_back("'" + d->parameter + "'");
    constexpr size_t kNamed = 3;
    const size_t named = std::min(names.size(), kNamed);
    std::string text = fmt::format(
        "{}", fmt::join(names.begin(), names.begin() + named, ", "));
    if (named < names.size()) {
      text += fmt::format(" and {} more", names.size() - named);
    }
    return text;
  }
};

// Parameters are checked one by one as long as that takes less arithmetic than
// this; else in groups, a few at the least, since the loss's factor is fitted.
constexpr double kMostFlops = 1e10;
constexpr size_t kLeastGroups = 6;
constexpr double kEvaluations = 4;  // of the loss for a derivative, mostly

size_t CountGroups(size_t parameters, double flops) {
  const double affordable = kMostFlops / (kEvaluations * std::max(flops, 1.0));
  if (affordable >= static_cast<double>(parameters)) return parameters;
  return std::min(parameters,
                  std::max(kLeastGroups, static_cast<size_t>(affordable)));
}

enum class LossState { kSmooth, kCutOff, kNotFinite };

class LossCheck {
 public:
  LossCheck(const LossPrograms& programs, GradientReport& report,
            WorkCount* count)
      : programs_(programs), report_(report), count_(count) {}

  // Has the loss looked at there from now on. Tells how it is there.
  Result<LossState> MoveTo(Tensors inputs) {
    inputs_ = std::move(inputs);
    MXC_ASSIGN(at_rest_, KeptRun::Of(programs_.loss, inputs_, kInDouble));
    MXC_ASSIGN(loss_at_rest_, LossAmong(at_rest_->Outputs()));
    cut_off_ = false;
    if (!std::isfinite(loss_at_rest_)) return LossState::kNotFinite;
    if (!programs_.other_end) return LossState::kSmooth;
    MXC_ASSIGN(const std::vector<Tensor> values,
               Interpret(*programs_.other_end, inputs_,
                         {.arithmetic = kInDouble, .after_step = {}}));
    MXC_ASSIGN(const double other, LossAmong(values));
    cut_off_ = other != loss_at_rest_;
    return cut_off_ ? LossState::kCutOff : LossState::kSmooth;
  }

  // Compares along all parameters that have a gradient; `output` is the loss's.
  Status Run(uint64_t seed, const std::string& output, double tolerance) {
    MXC_RETURN_IF_ERROR(MakeDirections(seed));
    const size_t groups =
        CountGroups(directions_.size(), InnerFlops(programs_.loss));
    if (groups < directions_.size()) Balance();
    report_.parameters += static_cast<int>(directions_.size());
    if (count_ != nullptr) count_->total += static_cast<int64_t>(groups);
    std::vector<std::vector<const Direction*>> along(groups);
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
  Status MakeDirections(uint64_t seed) {
    MXC_ASSIGN(const std::vector<Tensor> values,
               Interpret(programs_.gradients, inputs_,
                         {.arithmetic = kInDouble, .after_step = {}}));
    const Tensors outputs = OutputsByName(programs_.gradients, values);
    std::mt19937_64 random(seed);
    for (const auto& [name, gradient] : outputs) {
      if (!name.starts_with("grad:")) continue;
      Direction direction;
      direction.parameter = name.substr(5);
      direction.value = ValueHere(direction.parameter);
      direction.up.resize(gradient.shape().elements());
      for (size_t i = 0; i < direction.up.size(); ++i) {
        direction.up[i] = random() % 2 == 0;
        direction.rule +=
            direction.At(i) * gradient.At(static_cast<int64_t>(i));
      }
      directions_.push_back(std::move(direction));
    }
    SortByReaders();
    return Done{};
  }

  Tensor ValueHere(const std::string& parameter) const {
    Tensor initial = ValueOf(programs_.loss, parameter);
    const auto given = inputs_.find(parameter);
    return initial.empty() || given == inputs_.end() ? initial : given->second;
  }

  // As the network reads them: a group of neighbours leaves all that comes
  // before them as it is, and so do its halves.
  void SortByReaders() {
    const auto readers = FirstReaders(programs_.loss);
    const auto reader = [&](const Direction& d) {
      const auto found = readers.find(d.parameter);
      return found == readers.end() ? programs_.loss.steps.size()
                                    : found->second;
    };
    std::ranges::stable_sort(directions_, {}, reader);
  }

  // The largest move of a parameter that leaves the loss nearly linear, but for
  // a factor.
  static double Range(const Direction& direction) {
    if (direction.value.empty()) return 1;  // nothing reads it
    const double largest = LargestMagnitude(direction.value);
    return largest > 0 ? largest : 1;
  }

  // Parameters of one group are moved so far that each of them changes the loss
  // alike: no large derivative hides a small one that is wrong.
  void Balance() {
    std::vector<double> changes;
    for (const Direction& d : directions_) {
      changes.push_back(std::abs(d.rule) * Range(d));
    }
    auto middle = changes.begin() + std::ssize(changes) / 2;
    std::ranges::nth_element(changes, middle);
    for (Direction& d : directions_) {
      const double rule = std::abs(d.rule), range = Range(d);
      d.scale = rule * range > *middle ? *middle / rule : range;
      d.rule *= d.scale;
    }
  }

  // Takes the groups out whose difference over a small step agrees with the
  // gradient by far: no other step would say more. In a large network a step
  // passes the kinks of many elements, of the fewer the smaller it is.
  Status AcceptAtOnce(std::vector<std::vector<const Direction*>>& groups,
                      double tolerance, std::vector<Derivative>& derivatives) {
    std::vector<Derivative> first;
    double scale = 0;
    for (const auto& group : groups) {
      scale = std::max(scale, std::abs(RuleOf(group)));
    }
    for (const auto& group : groups) {
      Derivative derivative = {.along = group, .rule = RuleOf(group)};
      const double step = SmallStep(group, tolerance * scale);
      MXC_ASSIGN(const double above, LossAt(Read(group), step));
      MXC_ASSIGN(const double below, LossAt(Read(group), -step));
      derivative.differences = (above - below) / (2 * step);
      first.push_back(std::move(derivative));
    }
    const double factor = FittedFactor(first);
    std::vector<std::vector<const Direction*>> rest;
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

  static double RuleOf(const std::vector<const Direction*>& along) {
    double rule = 0;
    for (const Direction* d : along) rule += d->rule;
    return rule;
  }

  // What the loss reads: not a fixed gamma.
  static std::vector<const Direction*> Read(
      std::vector<const Direction*> along) {
    std::erase_if(along, [](const Direction* d) { return d->value.empty(); });
    return along;
  }

  static double FirstStep(const std::vector<const Direction*>& along) {
    const std::vector<const Direction*> read = Read(along);
    const bool alone = along.size() == 1 && !read.empty();
    return 1e-4 * (alone ? Range(*read[0]) / read[0]->scale : 1);
  }

  // Below the first step, and so small that what double leaves of the losses is
  // off by no more than `most`, after division by the step; not so small that
  // what it leaves of the parameters counts.
  double SmallStep(const std::vector<const Direction*>& along,
                   double most) const {
    const double first = FirstStep(along);
    const double least = 1e-4 * first;
    return most > 0 ? std::clamp(NoiseOf(loss_at_rest_) / most, least, first)
                    : first;
  }

  // What double leaves of a difference of such losses.
  static double NoiseOf(double loss) {
    return 1e-14 * std::max(1.0, std::abs(loss));
  }

  // Adds the derivatives of the group, of parts of it where the loss is not
  // smooth along all of it.
  Status Differentiate(std::vector<const Direction*> along,
                       std::vector<Derivative>& derivatives) {
    Derivative derivative;
    derivative.along = std::move(along);
    derivative.rule = RuleOf(derivative.along);
    MXC_ASSIGN(const std::optional<double> found, Difference(derivative.along));
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

  // The loss's derivative along the directions, once two steps agree on it;
  // nothing where none do: at a kink.
  Result<std::optional<double>> Difference(
      const std::vector<const Direction*>& along) {
    const std::vector<const Direction*> read = Read(along);
    if (read.empty()) return std::optional<double>(0);
    double step = FirstStep(along);
    std::optional<double> coarse;
    for (int attempt = 0; attempt < 5; ++attempt, step /= 8) {
      MXC_ASSIGN(const double above, LossAt(read, step));
      MXC_ASSIGN(const double below, LossAt(read, -step));
      const double fine = (above - below) / (2 * step);
      const double noise = NoiseOf(above) / step;
      if (coarse &&
          std::abs(fine - *coarse) <= 1e-4 * std::abs(fine) + 10 * noise) {
        return std::optional<double>(fine);
      }
      coarse = fine;
    }
    return std::optional<double>();
  }

  Result<double> LossAt(const std::vector<const Direction*>& along, double by) {
    Tensors moved;
    for (const Direction* d : along) moved[d->parameter] = Moved(*d, by);
    MXC_ASSIGN(const std::vector<Tensor> values, at_rest_->OutputsWith(moved));
    return LossAmong(values);
  }

  Result<double> LossAmong(const std::vector<Tensor>& values) const {
    const Tensors outputs = OutputsByName(programs_.loss, values);
    const auto loss = outputs.find("loss");
    if (loss == outputs.end()) {
      return UnplacedError("the network's loss heads report no loss");
    }
    return loss->second.At(0);
  }

  // The factor between a head's gradient and its loss's derivative that fits
  // best.
  static double FittedFactor(const std::vector<Derivative>& derivatives) {
    double products = 0, squares = 0;
    for (const Derivative& d : derivatives) {
      if (!std::isfinite(d.rule) || !std::isfinite(d.differences)) continue;
      products += d.rule * d.differences;
      squares += d.differences * d.differences;
    }
    return squares > 0 ? products / squares : 1;
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
      const double error =
          std::abs(d.rule - factor * d.differences) / (scale > 0 ? scale : 1);
      if (!(error <= tolerance) && cut_off_) {
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

  static Diagnostic Wrong(const Derivative& d, const std::string& output,
                          double factor, double scale) {
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

  const LossPrograms& programs_;
  Tensors inputs_;
  GradientReport& report_;
  WorkCount* count_;
  std::vector<Direction> directions_;
  std::optional<KeptRun> at_rest_;  // of the loss, no parameter moved
  double loss_at_rest_ = 0;
  bool cut_off_ = false;
};

// Moves to the first of the points where the loss is finite and nothing of it cut
// off, else to one where it is finite. Whether there is one.
Result<bool> MoveToSmooth(LossCheck& check, const LossPoints& points,
                          const std::string& output, GradientReport& report) {
  std::optional<size_t> cut_off;
  LossState first{}, state{};
  size_t p = 0;
  for (; p < points.count; ++p) {
    MXC_ASSIGN(const Tensors inputs, points.at(p));
    MXC_ASSIGN(state, check.MoveTo(inputs));
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
    MXC_ASSIGN(const Tensors inputs, points.at(p));
    MXC_ASSIGN(state, check.MoveTo(inputs));
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
    MXC_ASSIGN(const LossPrograms programs, MakePrograms(request, network, k));
    const std::string& output = alone.output_names[0];
    LossCheck check(programs, report, count);
    MXC_ASSIGN(const bool finite, MoveToSmooth(check, points, output, report));
    if (!finite) continue;
    MXC_RETURN_IF_ERROR(
        check.Run(network.request().seed + k, output, tolerance));
  }
  return report;
}

}  // namespace mxc
