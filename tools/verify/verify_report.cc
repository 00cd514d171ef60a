// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "tools/verify/verify_points.h"

namespace mxc {
namespace {

Json ToJson(const GradientReport& gradients) {
  Json moved = Json::array();
  for (const MovedLoss& loss : gradients.moved) {
    moved.push_back({{"loss", loss.output},
                     {"because", loss.was_cut_off ? "cut off" : "not finite"},
                     {"to", Describe(PointAt(loss.point))}});
  }
  return {{"parameters", gradients.parameters},
          {"compared", gradients.compared},
          {"largest_difference", gradients.largest},
          {"worst", gradients.worst},
          {"not_smooth", gradients.rough},
          {"not_finite", gradients.not_finite},
          {"cut_off", gradients.cut_off},
          {"moved", moved}};
}

void Print(const GradientReport& gradients) {
  const bool grouped =
      gradients.compared < gradients.parameters - std::ssize(gradients.rough);
  PrintOut(
      "{} right{}; largest difference from central differences {:.1e}{}\n",
      Count(grouped ? gradients.parameters : gradients.compared, "gradient"),
      grouped ? fmt::format(", along {} directions of several parameters",
                            gradients.compared)
              : "",
      gradients.largest,
      gradients.worst.empty() ? "" : ", in " + gradients.worst);
  for (const MovedLoss& loss : gradients.moved) {
    PrintOut("the loss of '{}' is {} with the first values: compared with {}\n",
             loss.output, loss.was_cut_off ? "cut off" : "not finite",
             Describe(PointAt(loss.point)));
  }
  if (!gradients.not_finite.empty()) {
    PrintOut(
        "not finite here, nothing compared: the loss of {}, on {} draws of "
        "inputs; --input gives others\n",
        fmt::join(gradients.not_finite, ", "), CountPoints());
  }
  if (!gradients.cut_off.empty()) {
    PrintOut(
        "not compared, since the loss takes no logarithm of probabilities near "
        "0, on {} draws of inputs: {}; --input gives others\n",
        CountPoints(), fmt::join(gradients.cut_off, ", "));
  }
  if (gradients.rough.empty()) return;
  PrintOut("not smooth enough to compare: {}\n",
           fmt::join(gradients.rough, ", "));
}

// The worst step, and the one by Winograd's or Strassen's algorithm that is
// nearest to its bound.
void PrintSteps(const std::vector<StepResult>& steps) {
  const StepResult* worst = nullptr;
  const StepResult* nearest = nullptr;
  int bounded = 0, ill_conditioned = 0;
  const auto share = [](const StepResult& step) {
    return step.difference.relative() / step.bound();
  };
  for (const StepResult& step : steps) {
    if (!worst || step.difference.relative() > worst->difference.relative()) {
      worst = &step;
    }
    if (step.ill_conditioned) ++ill_conditioned;
    if (step.bounds.empty() || step.ill_conditioned) continue;
    ++bounded;
    if (!nearest || share(step) > share(*nearest)) nearest = &step;
  }
  PrintOut("{} right; largest error {:.1e} of the largest value{}\n",
           Count(std::ssize(steps), "step"),
           worst ? worst->difference.relative() : 0,
           worst ? ", in '" + worst->name + "'" : "");
  if (ill_conditioned > 0) {
    PrintOut("{} within what roundings do to {} values (ill-conditioned)\n",
             Count(ill_conditioned, "step"),
             ill_conditioned == 1 ? "its" : "their");
  }
  if (nearest == nullptr) return;
  PrintOut(
      "{} of them by Winograd's or Strassen's algorithm; nearest to its bound "
      "of "
      "{:.1e}: {:.1e}, in '{}'\n",
      bounded, nearest->bound(), nearest->difference.relative(), nearest->name);
}

// How fewer bits are called, in a sentence and in JSON.
const char* WordsOf(FewerBits bits) {
  return bits == FewerBits::kWeights ? "weights of fewer bits change"
                                     : "numbers of fewer bits change";
}
const char* KeyOf(FewerBits bits) {
  return bits == FewerBits::kWeights ? "weights_change" : "precision_change";
}

// What fewer bits cost: the whole, then the layers, the dearest first.
void PrintPrices(const VerifyReport& report) {
  constexpr size_t kMost = 10;
  if (!report.outputs.price) return;
  std::vector<const StepResult*> layers;
  for (const StepResult& step : report.steps) {
    if (step.price && *step.price > 0) layers.push_back(&step);
  }
  std::ranges::stable_sort(layers, std::greater(),
                           [](const StepResult* step) { return *step->price; });
  PrintOut("{} outputs by {:.1e} of the largest value; alone\n",
           WordsOf(report.fewer_bits), *report.outputs.price);
  for (size_t i = 0; i < std::min(layers.size(), kMost); ++i) {
    PrintOut("  {:.1e}  {}\n", *layers[i]->price, layers[i]->name);
  }
  if (layers.size() > kMost) {
    PrintOut("  less     {} others (--json)\n", layers.size() - kMost);
  }
}

Json ToJson(const VerifyReport& report) {
  Json steps = Json::array();
  for (const StepResult& step : report.steps) {
    steps.push_back({{"name", step.name},
                     {"kernel", step.kernel},
                     {"error", step.difference.error},
                     {"scale", step.difference.scale}});
    if (!step.bounds.empty()) steps.back()["bound"] = step.bound();
    if (step.ill_conditioned) steps.back()["ill_conditioned"] = true;
    if (step.price) steps.back()[KeyOf(report.fewer_bits)] = *step.price;
  }
  Json json = {{"passed", report.is_complete()},
               {"output_error", report.outputs.error},
               {"output_bound", report.outputs.bound},
               {"steps", steps}};
  for (const auto& [name, length] : report.outputs.lengths) {
    (name.empty() ? json["length"] : json["lengths"][name]) = length;
  }
  if (report.outputs.ill_conditioned) json["output_ill_conditioned"] = true;
  if (report.outputs.price) {
    json[KeyOf(report.fewer_bits)] = *report.outputs.price;
  }
  if (report.gradients) json["gradients"] = ToJson(*report.gradients);
  return json;
}

// " at length 5", " at S=5, T=3"
std::string LengthsText(const std::map<std::string, int64_t>& lengths) {
  std::string text;
  for (const auto& [name, length] : lengths) {
    text += text.empty() ? " at " : ", ";
    text += name.empty() ? fmt::format("length {}", length)
                         : fmt::format("{}={}", name, length);
  }
  return text;
}

}  // namespace

void VerifyReport::Add(const VerifyReport& other) {
  steps.insert(steps.end(), other.steps.begin(), other.steps.end());
  outputs.error = std::max(outputs.error, other.outputs.error);
  outputs.bound = std::max(outputs.bound, other.outputs.bound);
  outputs.ill_conditioned |= other.outputs.ill_conditioned;
}

void PrintReport(const ReportStyle& style, const VerifyReport& report) {
  if (style.json) return PrintJson(ToJson(report));
  PrintSteps(report.steps);
  PrintOut(
      "outputs right{}; {:.1e} from the interpreter without optimization{}\n",
      LengthsText(report.outputs.lengths), report.outputs.error,
      report.outputs.bound > 0
          ? fmt::format(
                ", where their rounding may take up to {:.1e} (estimated)",
                report.outputs.bound)
          : "");
  if (report.outputs.ill_conditioned) {
    PrintOut("they are within what roundings do to them (ill-conditioned)\n");
  }
  PrintPrices(report);
  if (report.gradients) Print(*report.gradients);
}

}  // namespace mxc
