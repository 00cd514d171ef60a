// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/codegen.h"
#include "frontend/variables.h"
#include "ir/program/inner_program.h"
#include "ir/program/memory.h"
#include "ir/support/wildcard.h"
#include "ir/support/work_count.h"
#include "passes/pass.h"
#include "passes/training_graph.h"
#include "tools/driver/figures.h"
#include "tools/driver/kept_preprocessing.h"
#include "tools/driver/micro_batches.h"
#include "tools/driver/plan_network.h"
#include "tools/driver/plan_text.h"
#include "tools/driver/unplaced_error.h"

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

// One program to make: "train" for sequences of 32 in batches of 64.
struct Job {
  ProgramEntry entry;
  Specialization of;
};

constexpr const char* kDecode = "decode";
constexpr const char* kPrefill = "prefill";

std::vector<Job> JobsOfWriting(const CompileRequest& request) {
  Job decode{ProgramEntry::Named(kDecode), request.For(0)};
  Job prefill{ProgramEntry::Named(kPrefill), request.For(1)};
  prefill.of.generation.rows = request.prefill;
  prefill.of.generation.chosen = true;
  return {std::move(decode), std::move(prefill)};
}

// Returns whether a program of that purpose is told how the network trains.
bool Learns(Purpose purpose) {
  return purpose != Purpose::kInfer && purpose != Purpose::kOther;
}

std::vector<Job> JobsOf(const CompileRequest& request) {
  if (request.streams > 0) return JobsOfWriting(request);
  const std::vector<int64_t> batches =
      request.batches.empty() ? std::vector<int64_t>{0} : request.batches;
  const std::vector<Bucket> buckets =
      request.buckets.empty() ? std::vector<Bucket>{{}} : request.buckets;
  std::vector<Job> jobs;
  for (const std::string& word : request.entries) {
    const Purpose purpose = PurposeNamed(word);
    if (purpose == Purpose::kUpdate) {  // once, behind the entries `grad`
      const Specialization first = jobs.front().of;
      jobs.push_back({{.purpose = purpose, .of = {}}, first});
      continue;
    }
    for (const Bucket& bucket : buckets) {
      for (const int64_t batch : batches) {
        Job job{{purpose, bucket.lengths, {}}, request.For(batch)};
        if (!bucket.lengths.empty()) bucket.ApplyTo(job.of);
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
        "rescale_grad",
        fmt::format("{}", 1.0 / static_cast<double>(batch * training.replicas *
                                                    training.micro_batches)));
  }
  return training;
}

// Makes one program after the other and adds up what they take.
class Planner {
 public:
  Planner(const CompileRequest& request, const KernelCatalog& catalog,
          Progress& progress, Plan& plan)
      : request_(request),
        catalog_(catalog),
        progress_(progress),
        plan_(plan),
        after_pass_(request.after_pass) {}

  Status Add(const Job& job) {
    const Stopwatch watch;
    MXC_ASSIGN(Model model,
               plan_.network->Specialize(
                   job.of, request_.trains() ? ParameterUse::kStates
                                             : ParameterUse::kConstants));
    plan_.read_seconds += watch.seconds();
    if (first()) {
      MXC_RETURN_IF_ERROR(CheckBounds(model.graph));
      MXC_RETURN_IF_ERROR(CheckKeptLayers(model.graph));
      Note(model);
    }
    if (Learns(job.entry.purpose)) {
      MXC_RETURN_IF_ERROR(CutIntoMicroBatches(request_, model.graph));
    }
    TrainingOptions training =
        WithMeanGradient(request_.training, BatchOf(model.graph));
    const Purpose purpose = job.entry.purpose;
    if (purpose == Purpose::kUpdate) return AddUpdates(model.graph, training);
    model.graph.training =
        purpose == Purpose::kTrain || purpose == Purpose::kGrad;
    if (purpose == Purpose::kGrad) {
      MXC_ASSIGN(training.names_rows, UpdatesLazily(training));
      training.optimizer.clear();
    }
    return AddProgram(std::move(model.graph),
                      Learns(purpose) ? &training : nullptr, job.entry);
  }

 private:
  bool first() const { return plan_.programs.empty(); }

  void Note(const Model& model) {
    NoteNetwork(model, plan_);
    const std::string classes = plan_.network->ChangedClasses();
    if (!classes.empty()) plan_.notes.push_back(Error({}, "{}", classes));
    plan_.notes.Append(model.notes);
    plan_.notes.Append(model.unfit);
    plan_.notes.Append(model.left_out);
    for (const Diagnostic& doubt : model.doubts) {
      progress_.Warning(doubt.message);
    }
    progress_.Phase("read", DescribeNetwork(plan_), plan_.read_seconds);
    const ParameterFile& file = plan_.network->parameter_file();
    if (!file.path.empty()) progress_.Phase("params", Describe(file));
  }

  // Each bound is of a node of which data decide the length.
  Status CheckBounds(const Graph& graph) const {
    std::map<std::string, int64_t> left = request_.bounds;
    std::string known;
    for (const auto& node : graph.nodes()) {
      if (node->op == nullptr || !node->op->data_length) continue;
      left.erase(node->name);
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", node->name);
    }
    if (left.empty()) return Done{};
    return UnplacedError(fmt::format(
        "--bound '{}' names no node of which data decide the length; {}",
        left.begin()->first,
        known.empty() ? "there is none" : "expected " + known));
  }

  // Each layer that --precision leaves as it is is one.
  Status CheckKeptLayers(const Graph& graph) const {
    for (const std::string& pattern : request_.kept_layers) {
      const auto is_named = [&](const auto& node) {
        return node->op != nullptr && MatchesWildcard(pattern, node->name);
      };
      if (std::ranges::any_of(graph.nodes(), is_named)) continue;
      return UnplacedError(fmt::format(
          "--keep-layer '{}' names no layer of the network", pattern));
    }
    return Done{};
  }

  Status AddProgram(Graph graph, const TrainingOptions* training,
                    ProgramEntry entry) {
    MXC_ASSIGN(Program program,
               RunPipeline(std::move(graph), ContextFor(training), Passes()));
    MXC_RETURN_IF_ERROR(std::exchange(heard_, Done{}));
    program.name = plan_.stem;
    program.entry = std::move(entry);
    plan_.programs.push_back(std::move(program));
    return Done{};
  }

  // One for each gradient that an entry `grad` computes.
  Status AddUpdates(const Graph& network, const TrainingOptions& training) {
    const auto grad = std::ranges::find_if(
        plan_.programs,
        [](const Program& p) { return p.entry.purpose == Purpose::kGrad; });
    MXC_CHECK(grad != plan_.programs.end(), "'update' without 'grad'");
    std::vector<std::string> names;
    for (const int output : grad->BuffersOf(BufferKind::kOutput)) {
      const TensorUse& use = grad->buffers[output].use;
      if (use.role == TensorRole::kGradient) names.push_back(use.of);
    }
    for (const std::string& name : names) {
      // The loss's scale is not of the network.
      const Node* parameter = network.FindVariable(name);
      MXC_ASSIGN(Graph graph, parameter != nullptr
                                  ? UpdateGraph(network, *parameter, training)
                                  : ScaleUpdateGraph());
      MXC_RETURN_IF_ERROR(
          AddProgram(std::move(graph), nullptr,
                     {.purpose = Purpose::kUpdate, .of = name}));
    }
    return Done{};
  }

  PassContext ContextFor(const TrainingOptions* training) {
    PassContext context;
    context.target = &plan_.target;
    context.catalog = &catalog_;
    context.storage = request_.precision;
    context.kept_layers = request_.kept_layers;
    context.stores_all = request_.stores_all;
    context.weights = request_.weights;
    context.bounds = request_.bounds;
    context.training = training;
    if (first()) context.notes = &plan_.notes;
    return context;
  }

  void NoteRecomputation(const PassOptions::Report& report) {
    if (report.program == nullptr) return;
    const double flops = InnerFlops(*report.program);
    if (report.name == "recompute" && report.changed && flops_ > 0) {
      plan_.computed_again = std::max(plan_.computed_again, flops / flops_ - 1);
    }
    flops_ = flops;
  }

  PassOptions Passes() {
    PassOptions passes;
    passes.level = request_.level;
    passes.disabled = {request_.disabled.begin(), request_.disabled.end()};
    passes.after_pass = [this](const PassOptions::Report& report) {
      ThrowIfCancelled(request_.network.is_cancelled);
      AddTime(report, first(), plan_);
      if (request_.training.memory_budget) NoteRecomputation(report);
      if (first() && after_pass_ && heard_.ok()) {
        heard_ = after_pass_(report);
      }
    };
    return passes;
  }

  const CompileRequest& request_;
  const KernelCatalog& catalog_;
  Progress& progress_;
  Plan& plan_;
  // Counts the passes of this plan alone.
  std::function<Status(const PassOptions::Report&)> after_pass_;
  Status heard_ = Done{};  // what it said
  double flops_ = 0;       // of the program as the last pass left it
};

// Says what was read.
Result<Plan> PlanWith(std::shared_ptr<const KernelCatalog> catalog,
                      const CompileRequest& request, Plan plan,
                      Progress& progress) {
  plan.catalog = std::move(catalog);
  Planner planner(request, *plan.catalog, progress, plan);
  for (const Job& job : JobsOf(request)) {
    MXC_RETURN_IF_ERROR(planner.Add(job));
  }
  if (!request.label_names.empty()) plan.label_names = request.label_names;
  if (!request.preprocessing.empty()) {
    plan.preprocessing = request.preprocessing;
  }
  MXC_ASSIGN(plan.preprocessing, KeptPreprocessing(plan, request.pictures));
  return plan;
}

void Tell(const Plan& plan, Progress& progress) {
  if (plan.tuning) {
    progress.Phase("measure", Describe(*plan.tuning), plan.tuning->seconds);
  }
  for (const Diagnostic& note : plan.notes) {
    progress.Phase("note", note.message);
  }
  progress.Phase("optimize", DescribeFusion(plan), plan.optimize_seconds);
  progress.Phase("plan", DescribeMemory(plan), plan.plan_seconds);
}

CatalogOptions CatalogOf(const CompileRequest& request, const Target& target) {
  CatalogOptions catalog = {.constant_weights = !request.trains()};
  const auto ask = [&](const char* option, std::string value) {
    if (TakesOption(target, option)) catalog.options[option] = std::move(value);
  };
  if (request.winograd_tile) {
    ask("winograd", std::to_string(*request.winograd_tile));
  } else {
    catalog.rounding_budget = kRoundingBudget;
  }
  if (!request.strassen) ask("strassen", "off");
  if (request.tf32) ask("tf32", "on");
  return catalog;
}

bool Tunes(const CompileRequest& request) {
  return request.level > 0 &&
         (request.level == 3 || !request.tuning.cache.empty());
}

// A plan asks the questions, which are measured; the plan with the answers may
// raise others.
Result<Plan> TunedPlan(const CompileRequest& request, const Plan& unplanned,
                       Progress& progress) {
  constexpr int kMostRounds = 3;
  Progress silent;
  TuningOptions how = request.tuning;
  how.objects = request.objects.get();
  if (request.level < 3) how.measure = false;
  MXC_ASSIGN(Tuning opened, Tuning::Open(how, unplanned.target,
                                         CatalogOf(request, unplanned.target)));
  const auto tuning = std::make_shared<Tuning>(std::move(opened));
  const std::shared_ptr<const KernelCatalog> catalog(tuning,
                                                     &tuning->catalog());
  CompileRequest unheard = request;
  unheard.after_pass = nullptr;
  MXC_ASSIGN(Plan plan, PlanWith(catalog, unheard, unplanned, progress));
  for (int round = 0; round < kMostRounds; ++round) {
    MXC_ASSIGN(const bool learned, tuning->Measure(progress));
    if (!learned) break;
    MXC_ASSIGN(plan, PlanWith(catalog, unheard, unplanned, silent));
  }
  if (request.after_pass) {
    MXC_ASSIGN(plan, PlanWith(catalog, request, unplanned, silent));
  }
  plan.tuning = tuning->Report();
  return plan;
}

Result<Plan> PlanOf(const CompileRequest& request, Plan unplanned,
                    Progress& progress) {
  if (Tunes(request)) return TunedPlan(request, unplanned, progress);
  auto catalog =
      MakeKernelCatalog(unplanned.target, CatalogOf(request, unplanned.target));
  return PlanWith(std::move(catalog), request, std::move(unplanned), progress);
}

// Training fits itself into the budget: pass recompute.
Status RequireBudget(const CompileRequest& request, const Plan& plan) {
  const auto budget = request.training.memory_budget;
  const int64_t peak = MemoryOf(plan.largest()).peak();
  if (!budget || peak <= *budget || request.trains()) return Done{};
  return UnplacedError(
      fmt::format("peak memory is {} B ({}), more than --memory-budget {} B",
                  peak, FormatBytes(peak), *budget));
}

}  // namespace

const Program& Plan::largest() const {
  return *std::max_element(programs.begin(), programs.end(),
                           [](const Program& a, const Program& b) {
                             return a.arena_bytes() < b.arena_bytes();
                           });
}

bool CompileRequest::trains() const {
  return std::ranges::any_of(entries, [](const std::string& entry) {
    return PurposeNamed(entry) != Purpose::kInfer;
  });
}

Specialization CompileRequest::First() const {
  return JobsOf(*this).front().of;
}

Result<Plan> MakePlan(const CompileRequest& request,
                      const std::shared_ptr<LoadedNetwork>& network,
                      Progress& progress) {
  Plan unplanned;
  unplanned.network = network;
  unplanned.read_seconds = network->seconds();
  MXC_ASSIGN(const DType storage,
             network->StorageFor(request.First(), request.multiplied()));
  MXC_ASSIGN(unplanned.target, ResolveTarget(request.target, storage));
  for (const std::string& warning : network->parameter_file().warnings) {
    progress.Warning(warning);
  }
  MXC_ASSIGN(Plan plan, PlanOf(request, std::move(unplanned), progress));
  Tell(plan, progress);
  MXC_RETURN_IF_ERROR(RequireBudget(request, plan));
  return plan;
}

Result<Plan> MakePlan(const CompileRequest& request, Progress& progress) {
  Diagnostics errors;
  Done legal;
  std::shared_ptr<LoadedNetwork> network;
  TakeOrAdd(CheckRequest(request), legal, errors);
  TakeOrAdd(LoadedNetwork::Read(request.network), network, errors);
  if (!errors.empty() && network != nullptr) {
    TakeOrAdd(network->RequireOperators(request.For(0)), legal, errors);
  }
  if (!errors.empty()) return errors;
  MXC_RETURN_IF_ERROR(network->SetClasses(request));
  return MakePlan(request, network, progress);
}

}  // namespace mxc
