// SPDX-License-Identifier: Apache-2.0
#include "tools/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/variables.h"
#include "passes/pass.h"
#include "tools/dump.h"
#include "tools/overview.h"
#include "tools/plan_network.h"

namespace mxc {
namespace {

// The pass whose time is the phase "plan"; the others are "optimize".
constexpr std::string_view kPlanningPass = "plan-memory";

std::string_view StageOf(std::string_view pass) {
  for (const PassDescription& description : AllPasses()) {
    if (description.name == pass) return description.stage;
  }
  return "";
}

// The phases' durations, from the first program; later ones add to them.
void AddTime(const PassOptions::Report& report, bool first, Plan& plan) {
  (report.name == kPlanningPass ? plan.plan_seconds : plan.optimize_seconds) +=
      report.seconds;
  if (!first) return;
  plan.passes.push_back({report.name, std::string(StageOf(report.name)),
                         report.changed, report.seconds});
}

std::string DescribeNetwork(const Plan& plan) {
  return fmt::format("{}, {}, {}", Count(plan.nodes, "node"),
                     Count(plan.parameters, "parameter"),
                     FormatBytes(plan.parameter_bytes));
}

std::string DescribeMemory(const Overview& overview) {
  const int64_t states = overview.state_bytes();
  return fmt::format(
      "peak {}, lower bound {}, {}", FormatBytes(overview.memory.peak()),
      FormatBytes(overview.memory.lower_bound()),
      states > 0 ? FormatBytes(states) + " of states"
                 : FormatBytes(overview.memory.naive()) + " without sharing");
}

}  // namespace

const Program& Plan::largest() const {
  return *std::max_element(programs.begin(), programs.end(),
                           [](const Program& a, const Program& b) {
                             return a.arena_bytes < b.arena_bytes;
                           });
}

std::vector<std::string> ShapesOf(const Bucket& bucket,
                                  const NetworkOptions& network) {
  if (!bucket.input_shapes.empty()) return bucket.input_shapes;
  std::vector<std::string> shapes = network.input_shapes;
  for (std::string& shape : shapes) {
    const size_t at = shape.find('L', shape.rfind(':') + 1);
    if (at != shape.npos) shape.replace(at, 1, std::to_string(bucket.length));
  }
  return shapes;
}

bool Trains(const PlanOptions& options) {
  return std::ranges::any_of(options.entries, [](const std::string& entry) {
    return entry != "infer";
  });
}

namespace {

// One program to make: "train" for sequences of 32 in batches of 64.
struct Job {
  std::string entry, name;  // "train", "train:32"
  int64_t batch = 0;        // 0: as the shapes say
  NetworkOptions network;
};

std::vector<Job> JobsOf(const PlanOptions& options) {
  const std::vector<int64_t> batches =
      options.batches.empty() ? std::vector<int64_t>{0} : options.batches;
  const std::vector<Bucket> buckets =
      options.buckets.empty() ? std::vector<Bucket>{{}} : options.buckets;
  std::vector<Job> jobs;
  for (const std::string& entry : options.entries) {
    for (const Bucket& bucket : buckets) {
      for (const int64_t batch : batches) {
        Job job{entry, entry, batch, options.network};
        if (bucket.length > 0) {
          job.name += fmt::format(":{}", bucket.length);
          job.network.input_shapes = ShapesOf(bucket, options.network);
        }
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

int64_t BatchOf(const Graph& graph) {
  for (const Node* input : graph.Variables(VariableRole::kInput)) {
    const Shape& shape = input->types[0].shape;
    if (IsLabel(graph, *input) || shape.rank() == 0) continue;
    return shape[BatchAxis(*input, shape.rank())];
  }
  return 1;
}

// MXNet's loss heads add the samples' gradients up; its Module divides by the
// batch unless rescale_grad is given.
TrainingOptions WithMeanGradient(TrainingOptions training, int64_t batch) {
  const bool given = std::ranges::any_of(
      training.optimizer_attrs,
      [](const AttrText& attr) { return attr.first == "rescale_grad"; });
  if (!given && batch > 0) {
    training.optimizer_attrs.emplace_back(
        "rescale_grad", fmt::format("{}", 1.0 / static_cast<double>(batch)));
  }
  return training;
}

// Makes one program after the other and adds up what they take.
class Planner {
 public:
  Planner(const PlanOptions& options, const KernelCatalog& catalog,
          const Manners& manners, Plan& plan)
      : options_(options),
        catalog_(catalog),
        manners_(manners),
        plan_(plan),
        dump_(options) {}

  Status Add(const Job& job) {
    const Stopwatch watch;
    MXC_ASSIGN(Model model,
               LoadNetwork(job.network, job.batch,
                           Trains(options_) ? ParameterUse::kStates
                                            : ParameterUse::kConstants));
    plan_.read_seconds += watch.seconds();
    if (first()) {
      NoteNetwork(model, plan_);
      plan_.notes = model.left_out;
      PrintPhase(manners_, "read", DescribeNetwork(plan_), plan_.read_seconds);
      if (!plan_.parameter_file->path.empty()) {
        PrintPhase(manners_, "params", Describe(*plan_.parameter_file));
      }
    }
    model.graph.training = job.entry == "train";
    const TrainingOptions training =
        WithMeanGradient(options_.training, BatchOf(model.graph));
    MXC_ASSIGN(Program program,
               RunPipeline(std::move(model.graph), ContextFor(job, training),
                           Passes()));
    MXC_RETURN_IF_ERROR(dump_.status());
    program.name = plan_.stem;
    program.entry = job.name;
    plan_.programs.push_back(std::move(program));
    return Done{};
  }

 private:
  bool first() const { return plan_.programs.empty(); }

  PassContext ContextFor(const Job& job, const TrainingOptions& training) {
    PassContext context;
    context.target = &plan_.target;
    context.catalog = &catalog_;
    if (job.entry != "infer") context.training = &training;
    if (first()) context.notes = &plan_.notes;
    return context;
  }

  PassOptions Passes() {
    PassOptions passes;
    passes.level = options_.level;
    passes.disabled = {options_.disabled.begin(), options_.disabled.end()};
    passes.after_pass = [this](const PassOptions::Report& report) {
      AddTime(report, first(), plan_);
      if (first()) dump_.After(report);
    };
    return passes;
  }

  const PlanOptions& options_;
  const KernelCatalog& catalog_;
  const Manners& manners_;
  Plan& plan_;
  Dump dump_;
};

// Says what was read.
Result<Plan> PlanWith(const KernelCatalog& catalog, const PlanOptions& options,
                      const Target& target, const Manners& manners) {
  Plan plan;
  plan.target = target;
  plan.parameter_file = options.network.parameters;
  Planner planner(options, catalog, manners, plan);
  for (const Job& job : JobsOf(options)) {
    MXC_RETURN_IF_ERROR(planner.Add(job));
  }
  if (!options.label_names.empty()) plan.label_names = options.label_names;
  if (!options.preprocessing.empty()) {
    plan.preprocessing = options.preprocessing;
  }
  return plan;
}

void PrintPlan(const Manners& manners, const Plan& plan) {
  if (plan.tuning) {
    PrintPhase(manners, "measure", Describe(*plan.tuning),
               plan.tuning->seconds);
  }
  for (const Diagnostic& note : plan.notes) {
    PrintPhase(manners, "note", note.message);
  }
  PrintPhase(manners, "optimize", DescribeFusion(plan), plan.optimize_seconds);
  PrintPhase(manners, "plan", DescribeMemory(MakeOverview(plan.largest())),
             plan.plan_seconds);
}

CatalogOptions CatalogOf(const PlanOptions& options) {
  CatalogOptions catalog =
      Trains(options) ? kTrainingKernels : kInferenceKernels;
  if (options.winograd_tile) catalog.winograd_tile = *options.winograd_tile;
  catalog.strassen = catalog.strassen && options.strassen;
  return catalog;
}

bool Tunes(const PlanOptions& options) {
  return options.level > 0 &&
         (options.level == 3 || !options.tuning.cache.empty());
}

// A plan asks the questions, which are measured; the plan with the answers may
// raise others.
Result<Plan> TunedPlan(const PlanOptions& options, const Target& target,
                       const Manners& manners) {
  constexpr int kMostRounds = 3;
  TuningOptions how = options.tuning;
  how.objects = options.objects.get();
  if (options.level < 3) how.measure = false;
  MXC_ASSIGN(Tuning tuning, Tuning::Open(how, target, CatalogOf(options)));
  PlanOptions silent = options;
  silent.dump_after.clear();
  MXC_ASSIGN(Plan plan, PlanWith(tuning.catalog(), silent, target, manners));
  for (int round = 0; round < kMostRounds; ++round) {
    MXC_ASSIGN(const bool learned, tuning.Measure(manners));
    if (!learned) break;
    MXC_ASSIGN(plan,
               PlanWith(tuning.catalog(), silent, target, {.quiet = true}));
  }
  if (!options.dump_after.empty()) {
    MXC_ASSIGN(plan,
               PlanWith(tuning.catalog(), options, target, {.quiet = true}));
  }
  plan.tuning = tuning.Report();
  return plan;
}

Result<Plan> PlanFor(const PlanOptions& options, const Target& target,
                     const Manners& manners) {
  if (Tunes(options)) return TunedPlan(options, target, manners);
  const auto catalog = MakeKernelCatalog(target, CatalogOf(options));
  return PlanWith(*catalog, options, target, manners);
}

}  // namespace

Result<Plan> MakePlan(const PlanOptions& given, const Manners& manners) {
  PlanOptions options = given;
  MXC_ASSIGN(const Target target, ResolveTarget(options.target));
  MXC_ASSIGN(options.network.parameters, ParametersFor(options.network));
  for (const std::string& warning : options.network.parameters->warnings) {
    PrintWarning(warning);
  }
  MXC_ASSIGN(Plan plan, PlanFor(options, target, manners));
  PrintPlan(manners, plan);
  return plan;
}

std::string DescribeKernels(const CodeImage& code) {
  const std::string kernels = Count(std::ssize(code.kernels), "kernel");
  if (code.cached == 0) return kernels;
  return fmt::format("{}, {} from the cache", kernels, code.cached);
}

std::string DescribeFusion(const Plan& plan) {
  const Program& program = plan.programs.front();
  std::set<std::string> heads;  // one operator for each step that remains
  for (const Step& step : program.steps) {
    if (!step.origins.empty()) heads.insert(step.origins.front());
  }
  std::map<std::string, int> merged;
  for (const UserOperator& op : plan.operators) {
    if (!heads.contains(op.name)) ++merged[op.op];
  }
  std::vector<std::pair<int, std::string>> ranked;
  for (const auto& [op, count] : merged) ranked.emplace_back(-count, op);
  std::sort(ranked.begin(), ranked.end());
  std::string text =
      fmt::format("{} → {}", Count(std::ssize(plan.operators), "operator"),
                  Count(std::ssize(program.steps), "step"));
  // As many kinds as fit on the line.
  constexpr size_t kLongest = 63;  // bytes; the arrow has three
  for (size_t i = 0; i < ranked.size(); ++i) {
    const std::string kind = fmt::format("{}{} {}", i == 0 ? "; merged " : ", ",
                                         -ranked[i].first, ranked[i].second);
    if (i > 0 && text.size() + kind.size() > kLongest) {
      text += " …";
      break;
    }
    text += kind;
  }
  return text;
}

}  // namespace mxc
