// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/support/work_count.h"
#include "passes/stage_cut.h"
#include "tools/driver/figures.h"
#include "tools/driver/micro_batches.h"
#include "tools/driver/plan.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

constexpr const char* kGroup = "__ctx_group__";

using Stages = std::map<std::string, int>;

std::vector<const Node*> OperatorsIn(const Graph& graph) {
  std::vector<const Node*> operators;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kOperator) operators.push_back(node);
  }
  return operators;
}

// The network of a part of the batch, with all types.
Result<Graph> GraphOf(const CompileRequest& request, LoadedNetwork& network) {
  MXC_ASSIGN(Model model,
             network.Specialize(request.First(), ParameterUse::kStates));
  MXC_RETURN_IF_ERROR(CutIntoMicroBatches(request, model.graph));
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  return std::move(model.graph);
}

Status RequirePipeline(const CompileRequest& request) {
  Diagnostics errors;
  const auto refuse = [&](bool wrong, const char* what) {
    if (!wrong) return;
    errors.push_back(UnplacedError(
        fmt::format("a network in stages (--stages, --place) {}", what)));
  };
  const auto target = ResolveTarget(request.target, request.precision);
  refuse(target.ok() && !target->runs_on_host(),
         "trains on processors; name none of a GPU");
  refuse(request.training.replicas > 1, "goes with no --replicas");
  refuse(request.precision == DType::kF16,
         "is not for --precision float16, whose loss is scaled by what the "
         "whole network finds");
  refuse(!request.buckets.empty(), "trains on sequences of one length");
  refuse(std::ranges::any_of(request.cut.places,
                             [&](const StagePlace& place) {
                               return request.cut.stages > 1 &&
                                      place.stage >= request.cut.stages;
                             }),
         "has no stage that a --place names: they are numbered from 0 on");
  if (!errors.empty()) return errors;
  return Done{};
}

// --- by names

struct Pattern {
  std::regex expression;
  int stage = 0;
};

std::optional<int> StageByName(const std::vector<Pattern>& patterns,
                               const std::string& name) {
  constexpr size_t kLongestName =
      4096;  // std::regex recurses for each character
  if (name.size() > kLongestName) return std::nullopt;
  for (const Pattern& pattern : patterns) {
    try {
      if (std::regex_search(name, pattern.expression,
                            std::regex_constants::match_continuous)) {
        return pattern.stage;
      }
    } catch (const std::regex_error&) {  // too much work: no match
    }
  }
  return std::nullopt;
}

// Nodes that `named` says nothing of are where their inputs are, the first ones
// on stage 0.
Stages Complete(const Graph& graph,
                const std::function<std::optional<int>(const Node&)>& named) {
  Stages stage_of;
  std::unordered_map<const Node*, int> stages;
  for (const Node* node : OperatorsIn(graph)) {
    int of_inputs = 0;
    for (const Value& input : node->inputs) {
      const auto found = stages.find(input.node);
      if (found != stages.end()) of_inputs = std::max(of_inputs, found->second);
    }
    const int stage = named(*node).value_or(of_inputs);
    stages.emplace(node, stage);
    stage_of.emplace(node->name, stage);
  }
  return stage_of;
}

Result<Stages> ByPlaces(const std::vector<StagePlace>& places,
                        const Graph& graph) {
  std::vector<Pattern> patterns;
  for (const StagePlace& place : places) {
    patterns.push_back({std::regex(place.pattern), place.stage});
  }
  const std::vector<const Node*> operators = OperatorsIn(graph);
  Diagnostics errors;
  for (const StagePlace& place : places) {
    const std::vector<Pattern> one = {{std::regex(place.pattern), 0}};
    if (std::ranges::any_of(operators, [&](const Node* node) {
          return StageByName(one, node->name).has_value();
        })) {
      continue;
    }
    errors.push_back(UnplacedError(
        fmt::format("--place '{}={}' names no node of the network",
                    place.pattern, place.stage)));
  }
  if (!errors.empty()) return errors;
  return Complete(graph, [&](const Node& node) {
    return StageByName(patterns, node.name);
  });
}

// In the order in which they come.
std::vector<std::string> GroupsOf(const Graph& graph) {
  std::vector<std::string> groups;
  for (const Node* node : OperatorsIn(graph)) {
    const std::string* group = node->written.Annotation(kGroup);
    if (group != nullptr && std::ranges::count(groups, *group) == 0) {
      groups.push_back(*group);
    }
  }
  return groups;
}

Stages ByGroups(const std::vector<std::string>& groups, const Graph& graph) {
  return Complete(graph, [&](const Node& node) -> std::optional<int> {
    const std::string* group = node.written.Annotation(kGroup);
    if (group == nullptr) return std::nullopt;
    return static_cast<int>(std::ranges::find(groups, *group) - groups.begin());
  });
}

// --- by costs

// The whole step once, of two parts of the batch at most: all that follow are
// like the second.
Result<Plan> PlanWhole(const CompileRequest& request,
                       const std::shared_ptr<LoadedNetwork>& network) {
  CompileRequest whole = request;
  whole.cut = {};
  whole.entries = {"train"};
  whole.level = std::min(request.level, 2);  // the same cut on every machine
  whole.tuning.cache.clear();
  whole.after_pass = nullptr;
  whole.training.memory_budget.reset();
  const int64_t parts = request.training.micro_batches;
  if (parts > 2) {
    whole.training.micro_batches = 2;
    for (auto& [name, shape] : whole.input_shapes) {
      if (!shape.empty()) shape[0] = shape[0] / parts * 2;
    }
    for (int64_t& batch : whole.batches) batch = batch / parts * 2;
  }
  Progress silent;
  return MakePlan(whole, network, silent);
}

// Seconds of all parts by the names of nodes and parameters.
std::map<std::string, double> SecondsOf(const Plan& plan, int parts) {
  std::map<std::string, double> seconds;
  const Program& program = plan.programs.front();
  for (const Step& step : program.steps) {
    if (step.origins.empty()) continue;
    const double times = step.part == 1 ? parts - 1 : 1;
    const double share = times * plan.catalog->Seconds(program, step) /
                         static_cast<double>(step.origins.size());
    for (const std::string& origin : step.origins) seconds[origin] += share;
  }
  return seconds;
}

class Costs {
 public:
  Costs(const Graph& graph, const std::map<std::string, double>& seconds,
        int parts)
      : operators_(OperatorsIn(graph)) {
    costs_.nodes.assign(operators_.size(), 0);
    costs_.cuts.assign(operators_.size(), 0);
    std::set<std::string> counted;
    for (size_t at = 0; at < operators_.size(); ++at) {
      const Node& node = *operators_[at];
      const auto count = [&](const std::string& name) {
        const auto found = seconds.find(name);
        if (found == seconds.end() || !counted.insert(name).second) return;
        costs_.nodes[at] += found->second;
      };
      count(node.name);
      for (const Value& input : node.inputs) {
        if (input.node->kind == Node::Kind::kVariable) count(input.node->name);
        NoteReader(input, at);
      }
      for (int k = 0; k < std::ssize(node.types); ++k) {
        uses_[{node.id(), k}] = {&node.types[static_cast<size_t>(k)], at, at};
      }
    }
    CountCrossing(parts);
  }

  const std::vector<const Node*>& operators() const { return operators_; }
  const StageCosts& costs() const { return costs_; }
  double bytes(size_t at) const { return bytes_[at]; }

 private:
  // Where a value is made, and where it is read last.
  struct Use {
    const TensorType* type = nullptr;
    size_t first = 0, last = 0;
  };

  // A parameter is where its first reader is.
  void NoteReader(Value value, size_t at) {
    const Node& node = *value.node;
    const bool given = node.kind == Node::Kind::kConstant ||
                       (node.kind == Node::Kind::kVariable &&
                        node.role == VariableRole::kInput);
    if (given) return;
    const std::pair place(node.id(), value.index);
    uses_.try_emplace(place, Use{&value.type(), at, at}).first->second.last =
        at;
  }

  // A value goes forward and its gradient back, of each part.
  void CountCrossing(int parts) {
    std::vector<double> changes(operators_.size() + 1, 0);
    for (const auto& [place, use] : uses_) {
      if (use.last == use.first || !use.type->known()) continue;
      const double bytes = static_cast<double>(use.type->bytes()) * parts *
                           (IsFloat(use.type->dtype) ? 2 : 1);
      changes[use.first + 1] += bytes;
      changes[use.last + 1] -= bytes;
    }
    double bytes = 0;
    for (size_t at = 0; at < operators_.size(); ++at) {
      bytes += changes[at];
      bytes_.push_back(bytes);
      costs_.cuts[at] = bytes / kLinkBytesPerSecond;
    }
  }

  const std::vector<const Node*> operators_;
  StageCosts costs_;
  std::map<std::pair<int, int>, Use> uses_;  // by node and output
  std::vector<double> bytes_;                // that cross in front of a node
};

std::string DescribeCut(const Costs& costs, const std::vector<int>& firsts) {
  std::vector<std::string> stages;
  for (size_t stage = 0; stage < firsts.size(); ++stage) {
    const auto begin = static_cast<size_t>(firsts[stage]);
    const size_t end = stage + 1 < firsts.size()
                           ? static_cast<size_t>(firsts[stage + 1])
                           : costs.operators().size();
    double seconds = 0;
    for (size_t at = begin; at < end; ++at) seconds += costs.costs().nodes[at];
    std::string text =
        fmt::format("{} to {} {}", costs.operators()[begin]->name,
                    costs.operators()[end - 1]->name, FormatSeconds(seconds));
    if (stage > 0) {
      text =
          fmt::format("{} cross, ",
                      FormatBytes(static_cast<int64_t>(costs.bytes(begin)))) +
          text;
    }
    stages.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(stages, "; "));
}

Result<Stages> ByCosts(const CompileRequest& request, const Graph& graph,
                       const std::shared_ptr<LoadedNetwork>& network,
                       std::string& told) {
  const int stages = request.cut.stages, parts = request.training.micro_batches;
  MXC_ASSIGN(const Plan plan, PlanWhole(request, network));
  const Costs costs(graph, SecondsOf(plan, parts), parts);
  if (std::ssize(costs.operators()) < stages) {
    return UnplacedError(fmt::format("--stages {} of a network of {} operators",
                                     stages, costs.operators().size()));
  }
  const std::vector<int> firsts = CutIntoStages(costs.costs(), stages);
  told = DescribeCut(costs, firsts);
  Stages stage_of;
  int stage = 0;
  for (int at = 0; at < std::ssize(costs.operators()); ++at) {
    if (stage + 1 < stages && firsts[static_cast<size_t>(stage) + 1] == at) {
      ++stage;
    }
    stage_of.emplace(costs.operators()[static_cast<size_t>(at)]->name, stage);
  }
  return stage_of;
}

Status RequireNoneEmpty(const Stages& stage_of, int stages) {
  for (int stage = 0; stage < stages; ++stage) {
    if (std::ranges::any_of(stage_of, [&](const auto& placed) {
          return placed.second == stage;
        })) {
      continue;
    }
    return UnplacedError(fmt::format(
        "no node of the network is on stage {} of {}", stage, stages));
  }
  return Done{};
}

}  // namespace

Result<StagePlace> ParseStagePlace(const std::string& text) {
  const size_t equals = text.rfind('=');
  StagePlace place;
  const char* end = text.data() + text.size();
  if (equals != text.npos && equals > 0) {
    place.pattern = text.substr(0, equals);
    const auto parsed =
        std::from_chars(text.data() + equals + 1, end, place.stage);
    try {
      const std::regex expression(place.pattern);
      if (parsed.ec == std::errc() && parsed.ptr == end && place.stage >= 0 &&
          place.stage < kMostStages) {
        return place;
      }
    } catch (const std::regex_error&) {
      return UnplacedError(
          fmt::format("'{}' is no regular expression", place.pattern));
    }
  }
  return UnplacedError(
      fmt::format("'{}' is not REGEX=STAGE, with a stage from 0 to {}", text,
                  kMostStages - 1));
}

Status SettleStages(CompileRequest& request,
                    const std::shared_ptr<LoadedNetwork>& network,
                    Progress& progress) {
  const StageRequest& cut = request.cut;
  const int stages = cut.count();
  if (stages == 1) return Done{};
  const Stopwatch watch;
  MXC_RETURN_IF_ERROR(RequirePipeline(request));
  MXC_ASSIGN(const Graph graph, GraphOf(request, *network));
  Stages stage_of;
  std::string told;
  if (const auto groups = GroupsOf(graph); !cut.places.empty()) {
    MXC_ASSIGN(stage_of, ByPlaces(cut.places, graph));
  } else if (!groups.empty()) {
    if (std::ssize(groups) != stages) {
      return UnplacedError(fmt::format(
          "the network's nodes are in the groups ({}) {}, and --stages says {}",
          kGroup, fmt::join(groups, ", "), stages));
    }
    stage_of = ByGroups(groups, graph);
  } else {
    MXC_ASSIGN(stage_of, ByCosts(request, graph, network, told));
  }
  MXC_RETURN_IF_ERROR(RequireNoneEmpty(stage_of, stages));
  request.training.stages = stages;
  request.training.stage_of = std::move(stage_of);
  if (!told.empty()) progress.Phase("stages", told, watch.seconds());
  return Done{};
}

}  // namespace mxc
