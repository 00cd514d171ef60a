// SPDX-License-Identifier: Apache-2.0
#include "tools/train/train_labels.h"

#include <fmt/format.h>

#include "ir/graph/graph.h"
#include "runtime/train/judge.h"
#include "tools/driver/class_labels.h"
#include "tools/driver/loss_heads.h"
#include "tools/driver/unplaced_error.h"
#include "tools/model_options.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

// As in MXNet a SoftmaxOutput divides the gradients of classes alone: those of
// probabilities would be larger by as much.
Status RequireNoDivisor(const std::string& mixes, const Node& head) {
  const std::string divisor = AttributeText(head, "normalization");
  if (divisor.empty() || divisor == "null") return Done{};
  return Error(head.loc,
               "{}: '{}' has normalization={}, which does not apply to "
               "probabilities of classes: leave it out",
               mixes, head.name, divisor);
}

}  // namespace

std::string CheckClasses(const std::string& text) {
  if (text == "auto") return "";
  std::string number = text;
  const CLI::Validator legal = Between(kLeastClasses, kMostClasses);
  return legal(number).empty()
             ? ""
             : fmt::format(
                   "'{}' is neither auto nor a whole number from {} to {}",
                   text, kLeastClasses, kMostClasses);
}

Status SetClasses(const std::string& text, const data::Iterator& source,
                  const CompileRequest& request, LoadedNetwork& network) {
  if (text.empty()) return Done{};
  // Labels of so many columns as there are classes fit the head that is to be.
  Specialization first = request.First();
  for (const data::Field& label : source.provides().labels) {
    first.shapes.erase(label.name);
  }
  if (text != "auto") return network.SetClasses(std::stoll(text), first);
  const auto classes = source.CountClasses();
  if (!classes.ok()) {
    return UnplacedError(
        fmt::format("--classes auto: {}; --classes N says how many there are",
                    classes.status().message()));
  }
  if (*classes < kLeastClasses) {
    return UnplacedError(
        fmt::format("--classes auto: {}: one class cannot be told from others",
                    source.summary()));
  }
  return network.SetClasses(*classes, first);
}

std::vector<train::Head> HeadsOf(const LoadedNetwork& network,
                                 const CompileRequest& request) {
  Specialization of = request.For(0);
  if (!request.buckets.empty()) request.buckets.back().ApplyTo(of);
  Result<Model> model = network.Draft(of);
  if (!model.ok()) return {};
  if (!InferTypes(model->graph, /*complete=*/false).ok()) return {};
  return FindLossHeads(model->graph, LabelInputs(model->graph));
}

Status MixLabels(const data::Iterator& source, const LoadedNetwork& network,
                 CompileRequest& request) {
  const std::string mixes = source.mixes();
  if (mixes.empty()) return Done{};
  MXC_ASSIGN(const Model model, network.Draft(request.For(0)));
  const std::vector<std::string> labels = LabelInputs(model.graph);
  bool takes = false;
  for (const train::Head& head : HeadsOf(network, request)) {
    takes = takes || head.kind == train::HeadKind::kDistribution;
    if (head.kind != train::HeadKind::kClasses || head.label < 0) continue;
    const auto shape =
        request.input_shapes.find(labels[static_cast<size_t>(head.label)]);
    if (shape == request.input_shapes.end() || shape->second.size() != 1) {
      continue;
    }
    const auto output = static_cast<size_t>(head.output);
    MXC_RETURN_IF_ERROR(
        RequireNoDivisor(mixes, *model.graph.outputs[output].node));
    shape->second.push_back(head.classes);
    takes = true;
  }
  if (takes) return Done{};
  return UnplacedError(
      mixes +
      ": no loss of the network compares probabilities of classes, as "
      "SoftmaxOutput does");
}

Status RequireMetrics(const std::string& names,
                      const std::vector<train::Head>& heads) {
  const auto metrics = train::MetricList::Parse(names);
  if (!metrics.ok()) return UnplacedError(metrics.status().message());
  const train::Status fit = train::RequireFit(*metrics, heads);
  if (!fit.ok()) return UnplacedError(fit.message());
  return Done{};
}

}  // namespace mxc
