// SPDX-License-Identifier: Apache-2.0
#include "tools/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "frontend/variables.h"
#include "passes/pass.h"
#include "runtime/data/label_names.h"
#include "runtime/train/checkpoint.h"
#include "tools/overview.h"

namespace mxc {
namespace {

// The pass whose time is the phase "plan"; the others are "optimize".
constexpr std::string_view kPlanningPass = "plan-memory";

// Writes what a pass left to DIR/03-fuse.program, or to stdout.
class Dump {
 public:
  explicit Dump(const PlanOptions& options) : options_(options) {}

  void After(const PassOptions::Report& report) {
    ++number_;
    if (options_.dump_after != "all" && options_.dump_after != report.name) {
      return;
    }
    const std::string text =
        report.graph ? Print(*report.graph) : Print(*report.program);
    if (options_.dump_folder.empty()) {
      fmt::print("# after {}\n{}\n", report.name, text);
      return;
    }
    std::filesystem::create_directories(options_.dump_folder);
    const std::string path =
        fmt::format("{}/{:02}-{}.{}", options_.dump_folder, number_,
                    report.name, report.graph ? "graph" : "program");
    std::ofstream out(path, std::ios::binary);
    out << text;
    if (!out.flush()) fmt::print(stderr, "cannot write {}\n", path);
  }

 private:
  const PlanOptions& options_;
  int number_ = 0;
};

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

// "statecell" of RNN's input "state_cell" and of its output "statecell_output".
std::string WithoutOutput(std::string name) {
  std::erase(name, '_');
  if (name.ends_with("output")) name.resize(name.size() - 6);
  return name;
}

// The input that an output is in the next run: the output of a node that has an
// input of the same name ("state"), perhaps behind operators of one input.
const Node* CarriedInput(Value output) {
  while (output.node->kind == Node::Kind::kOperator) {
    const Node& node = *output.node;
    const std::vector<InputSpec> specs = node.op->inputs(node.attrs.get());
    const std::string name = WithoutOutput(node.OutputName(output.index));
    for (size_t i = 0; i < specs.size() && i < node.inputs.size(); ++i) {
      const Node* input = node.inputs[i].node;
      if (WithoutOutput(specs[i].name) == name &&
          input->kind == Node::Kind::kVariable &&
          input->role == VariableRole::kInput &&
          input->types[0] == output.type()) {
        return input;
      }
    }
    if (node.inputs.size() != 1 || node.inputs[0].type() != output.type()) {
      return nullptr;
    }
    output = node.inputs[0];
  }
  return nullptr;
}

void NoteCarries(const Graph& graph, Plan& plan) {
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Node* input = CarriedInput(graph.outputs[i]);
    if (input == nullptr) continue;
    plan.carries.emplace_back(graph.output_names[i], input->name);
    std::erase(plan.data_inputs, input->name);
  }
}

void NoteVariable(const Graph& graph, const Node& node, Plan& plan) {
  if (node.kind == Node::Kind::kConstant || node.role != VariableRole::kInput) {
    ++plan.parameters;
    plan.parameter_bytes += node.constant.size_bytes();
  }
  if (node.kind == Node::Kind::kConstant) return;
  switch (node.role) {
    case VariableRole::kInput: {
      const bool label = IsLabel(graph, node) || node.name.ends_with("label");
      (label ? plan.label_inputs : plan.data_inputs).push_back(node.name);
      break;
    }
    case VariableRole::kParameter:
      plan.parameter_names.push_back(node.name);
      break;
    case VariableRole::kState:
      plan.auxiliary_names.push_back(node.name);
      break;
  }
}

void NoteNetwork(const Model& model, Plan& plan) {
  plan.label_names = LabelNamesBeside(model.parameter_file);
  plan.stem = model.stem;
  plan.source = model.source;
  plan.notes = model.notes;
  for (const Node* node : model.graph.TopologicalOrder()) {
    ++plan.nodes;
    if (node->kind == Node::Kind::kOperator) {
      plan.operators.push_back({node->name, node->op->name});
    } else {
      NoteVariable(model.graph, *node, plan);
    }
  }
  NoteCarries(model.graph, plan);
}

std::string DescribeNetwork(const Plan& plan) {
  return fmt::format("{}, {}, {}", Count(plan.nodes, "node"),
                     Count(plan.parameters, "parameter"),
                     FormatBytes(plan.parameter_bytes));
}

std::string DescribeMemory(const Overview& overview) {
  const int64_t states = overview.state_bytes();
  return fmt::format(
      "peak {}, lower bound {}, {}", FormatBytes(overview.peak_bytes()),
      FormatBytes(overview.lower_bound_bytes()),
      states > 0 ? FormatBytes(states) + " of states"
                 : FormatBytes(overview.naive_bytes()) + " without sharing");
}

}  // namespace

const Program& Plan::largest() const {
  return *std::max_element(programs.begin(), programs.end(),
                           [](const Program& a, const Program& b) {
                             return a.arena_bytes < b.arena_bytes;
                           });
}

std::vector<std::string> LabelNamesBeside(const std::string& parameter_file) {
  if (parameter_file.empty()) return {};
  const auto names =
      data::ParseLabelNames(train::NoteBeside(parameter_file, "label_names"));
  return names.ok() ? *names : std::vector<std::string>();
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
      PrintPhase(manners_, "read", DescribeNetwork(plan_), plan_.read_seconds);
    }
    model.graph.training = job.entry == "train";
    const TrainingOptions training =
        WithMeanGradient(options_.training, BatchOf(model.graph));
    MXC_ASSIGN(Program program,
               RunPipeline(std::move(model.graph), ContextFor(job, training),
                           Passes()));
    program.name = plan_.stem;
    program.entry = job.name;
    plan_.programs.push_back(std::move(program));
    return Done{};
  }

  void PrintNotes() const {
    for (const Diagnostic& note : notes_) {
      PrintPhase(manners_, "note", note.message);
    }
  }

 private:
  bool first() const { return plan_.programs.empty(); }

  PassContext ContextFor(const Job& job, const TrainingOptions& training) {
    PassContext context;
    context.target = &plan_.target;
    context.catalog = &catalog_;
    if (job.entry != "infer") context.training = &training;
    if (first()) context.notes = &notes_;
    return context;
  }

  PassOptions Passes() {
    PassOptions passes;
    passes.level = options_.level;
    passes.disabled = {options_.disabled.begin(), options_.disabled.end()};
    passes.after_pass = [this](const PassOptions::Report& report) {
      AddTime(report, first(), plan_);
      if (first() && !options_.dump_after.empty()) dump_.After(report);
    };
    return passes;
  }

  const PlanOptions& options_;
  const KernelCatalog& catalog_;
  const Manners& manners_;
  Plan& plan_;
  Dump dump_;
  Diagnostics notes_;  // of the passes
};

Result<Plan> PlanWith(const KernelCatalog& catalog, const PlanOptions& options,
                      const Target& target, const Manners& manners) {
  Plan plan;
  plan.target = target;
  Planner planner(options, catalog, manners, plan);
  for (const Job& job : JobsOf(options)) {
    MXC_RETURN_IF_ERROR(planner.Add(job));
  }
  if (!options.label_names.empty()) plan.label_names = options.label_names;
  planner.PrintNotes();
  PrintPhase(manners, "optimize", DescribeFusion(plan), plan.optimize_seconds);
  PrintPhase(manners, "plan", DescribeMemory(MakeOverview(plan.largest())),
             plan.plan_seconds);
  return plan;
}

CatalogOptions CatalogOf(const PlanOptions& options) {
  if (options.winograd_tile) return {.winograd_tile = *options.winograd_tile};
  return Trains(options) ? kTrainingKernels : kInferenceKernels;
}

bool Tunes(const PlanOptions& options) {
  return options.level > 0 &&
         (options.level == 3 || !options.tuning.cache.empty());
}

// A first plan asks the questions, which are measured; other kernels may raise
// others.
Result<Plan> TunedPlan(const PlanOptions& options, const Target& target,
                       const Manners& manners) {
  constexpr int kMostRounds = 3;
  TuningOptions how = options.tuning;
  if (options.level < 3) how.measure = false;
  MXC_ASSIGN(Tuning tuning, Tuning::Open(how, target, CatalogOf(options)));
  PlanOptions silent = options;
  silent.dump_after.clear();
  for (int round = 0; round < kMostRounds; ++round) {
    MXC_ASSIGN([[maybe_unused]] const Plan questions,
               PlanWith(tuning.catalog(), silent, target, {.quiet = true}));
    MXC_ASSIGN(const bool learned, tuning.Measure(manners));
    if (!learned) break;
  }
  const TuningReport report = tuning.Report();
  PrintPhase(manners, "measure", Describe(report), report.seconds);
  MXC_ASSIGN(Plan plan, PlanWith(tuning.catalog(), options, target, manners));
  plan.tuning = report;
  return plan;
}

}  // namespace

Result<Plan> MakePlan(const PlanOptions& options, const Manners& manners) {
  MXC_ASSIGN(const Target target, ResolveTarget(options.target));
  if (Tunes(options)) return TunedPlan(options, target, manners);
  const auto catalog = MakeKernelCatalog(target, CatalogOf(options));
  return PlanWith(*catalog, options, target, manners);
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
