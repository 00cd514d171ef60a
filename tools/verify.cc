// SPDX-License-Identifier: Apache-2.0
// mxc verify: the compiled network against the interpreter.
//
// Two comparisons, so that an error has a place. Each step is run on the inputs
// that the steps before it left, and compared with the interpreter on the same
// inputs: this tests code generation. Then the outputs are compared with those
// of the interpreter on the network as required passes alone leave it: this
// tests the passes, and the one that is to blame is found by leaving it out.
// With --grad both are done to the network's gradients and to a training step,
// and the gradients are compared with central differences: verify_gradient.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "ir/program/interpreter.h"
#include "passes/pass.h"
#include "tools/command.h"
#include "tools/driver/plan.h"
#include "tools/driver/temporary_file.h"
#include "tools/request_options.h"
#include "tools/terminal.h"
#include "tools/usage/values.h"
#include "tools/verify/conditioning_bound.h"
#include "tools/verify/cut_length.h"
#include "tools/verify/difference.h"
#include "tools/verify/draw_input.h"
#include "tools/verify/step_runner.h"
#include "tools/verify/verify_gradient.h"
#include "tools/verify/verify_inputs.h"
#include "tools/verify/verify_points.h"
#include "tools/verify/verify_report.h"
#include "tools/verify/verify_steps.h"

namespace mxc {
namespace {

struct VerifyOptions {
  ReportStyle style;
  RequestOptions request;
  std::vector<std::string> inputs;  // "data=x.npy"
  Tolerance tolerance;
  std::string repro_folder;
  bool gradients = false;
};

Result<std::vector<Tensor>> InterpretPlan(
    const CompileRequest& request,
    const std::shared_ptr<LoadedNetwork>& network, const Inputs& inputs) {
  CompileRequest known = request;
  known.tuning.measure = false;
  Progress silent;
  MXC_ASSIGN(const Plan plan, MakePlan(known, network, silent));
  return Interpret(plan.programs.front(), inputs);
}

// The first program as required passes alone leave it.
Result<Program> PlainProgram(const CompileRequest& request,
                             const std::shared_ptr<LoadedNetwork>& network) {
  CompileRequest plain = request;
  plain.level = 0;
  Progress silent;
  MXC_ASSIGN(Plan plan, MakePlan(plain, network, silent));
  return std::move(plan.programs.front());
}

// How far an output may be off because values on the way to it are kept in a
// narrow type: the last bit of the largest. Roundings of more of them cancel
// out in sums.
double KeptRounding(const Program& program, const Tensor& output) {
  double last_bit = 0;
  for (const Buffer& buffer : program.buffers) {
    last_bit = std::max(last_bit, LastBit(buffer.type.dtype));
  }
  return last_bit > 0 ? last_bit * LargestMagnitude(output) : 0;
}

// What each output may be off by; `bounds`: more, of each.
std::vector<Tolerance> OutputTolerances(
    const VerifyOptions& options, const Program& program,
    const std::vector<Tensor>& expected,
    const std::vector<double>& bounds = {}) {
  // Optimization may leave roundings between operators out.
  constexpr int kRoundings = 8;
  std::vector<Tolerance> tolerances;
  for (size_t i = 0; i < expected.size(); ++i) {
    Tolerance& tolerance = tolerances.emplace_back(options.tolerance);
    tolerance.roundings = kRoundings;
    tolerance.more = KeptRounding(program, expected[i]);
    if (i < bounds.size()) tolerance.more += bounds[i];
  }
  return tolerances;
}

// The first output that differs, or nothing. `element_bounds`: what elements may
// be off by instead, of each output that has any.
std::optional<std::pair<size_t, Difference>> FirstWrong(
    const std::vector<Tensor>& found, const std::vector<Tensor>& expected,
    const std::vector<Tolerance>& tolerances,
    const std::vector<Tensor>& element_bounds = {}) {
  for (size_t i = 0; i < found.size(); ++i) {
    const bool own = i < element_bounds.size() && !element_bounds[i].empty();
    const Difference d = Compare(found[i], expected[i], tolerances[i],
                                 own ? &element_bounds[i] : nullptr);
    if (d.worst >= 0) return std::pair(i, d);
  }
  return std::nullopt;
}

// Of the outputs what counts.
std::vector<Tensor> Counted(std::vector<Tensor> outputs,
                            const std::optional<CutLength>& cut) {
  return cut ? cut->CutOutputs(outputs) : outputs;
}

// The optional pass without which the outputs are right.
std::string FindGuiltyPass(const VerifyOptions& options,
                           const CompileRequest& request, const Plan& plan,
                           const Inputs& inputs,
                           const std::optional<CutLength>& cut,
                           const std::vector<Tensor>& expected) {
  const std::vector<Tolerance> tolerances =
      OutputTolerances(options, plan.programs.front(), expected);
  for (const PassDescription& pass : AllPasses()) {
    if (pass.required) continue;
    CompileRequest without = request;
    without.disabled.emplace_back(pass.name);
    const auto found = InterpretPlan(without, plan.network, inputs);
    if (found.ok() && !FirstWrong(Counted(*found, cut), expected, tolerances)) {
      return fmt::format("right without pass '{}'", pass.name);
    }
  }
  return "no single pass is to blame";
}

std::vector<Tensor> ReadOutputs(const Program& program, StepRunner& runner) {
  std::vector<Tensor> outputs;
  for (const int b : program.BuffersOf(BufferKind::kOutput)) {
    outputs.push_back(runner.Read(b));
  }
  return outputs;
}

CompileRequest WithAllDigits(CompileRequest request) {
  request.precision = DType::kF32;
  request.kept_layers.clear();
  request.weights = {};
  return request;
}

// What the artifact's outputs are. Training on rounded values finds maxima of
// windows elsewhere, and other gradients, and weights of few bits change every
// output: there, what the passes make of the network but for the rounding, which
// the steps answer for one by one.
Result<std::vector<Tensor>> OutputsOf(const CompileRequest& request,
                                      const Plan& plan, const Inputs& inputs,
                                      StepRunner& runner) {
  if (request.weights.kind != WeightKind::kF32 ||
      (request.trains() && request.precision != DType::kF32)) {
    return InterpretPlan(WithAllDigits(request), plan.network, inputs);
  }
  return ReadOutputs(plan.programs.front(), runner);
}

bool HasFewerBits(const CompileRequest& request) {
  return request.weights.kind != WeightKind::kF32 ||
         (request.precision != DType::kF32 && !request.trains());
}

// By how much fewer bits change the outputs, of each one's largest value.
double PriceOf(const std::vector<Tensor>& found,
               const std::vector<Tensor>& expected) {
  double price = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    price = std::max(price, Compare(found[i], expected[i], {}).relative());
  }
  return price;
}

// By which to tell what fewer bits cost, for each program; empty: nothing has
// fewer. What Winograd's and Strassen's algorithms round is no price of theirs.
Result<std::vector<StepPrice>> PricesOf(
    const CompileRequest& request,
    const std::shared_ptr<LoadedNetwork>& network) {
  std::vector<StepPrice> prices;
  if (!HasFewerBits(request)) return prices;
  CompileRequest exact = WithAllDigits(request);
  exact.winograd_tile = 0;
  exact.strassen = false;
  exact.tuning.measure = false;
  Progress silent;
  MXC_ASSIGN(Plan wide, MakePlan(exact, network, silent));
  for (Program& program : wide.programs) {
    prices.emplace_back(std::move(program));
  }
  return prices;
}

Result<OutputResult> CheckOutputs(const VerifyOptions& options,
                                  const CompileRequest& request,
                                  const Plan& plan, const Inputs& inputs,
                                  StepRunner& runner,
                                  const std::vector<StepResult>& steps) {
  const Program& program = plan.programs.front();
  const auto cut = CutLength::Of(program, inputs);
  const Inputs plain_inputs = cut ? cut->CutInputs() : inputs;
  MXC_ASSIGN(const Program plain,
             PlainProgram(cut ? cut->Request(request) : request, plan.network));
  MXC_ASSIGN(const std::vector<Tensor> expected,
             Interpret(plain, plain_inputs));
  MXC_ASSIGN(std::vector<Tensor> whole,
             OutputsOf(request, plan, inputs, runner));
  const std::vector<Tensor> found = Counted(std::move(whole), cut);
  const std::vector<int> outputs = program.BuffersOf(BufferKind::kOutput);
  MXC_ASSIGN(const std::vector<double> bounds,
             OutputBounds(program, inputs, runner, steps));
  OutputResult largest;
  if (cut) largest.lengths = cut->lengths();
  if (HasFewerBits(request)) {
    largest.price =
        PriceOf(Counted(ReadOutputs(program, runner), cut), expected);
  }
  const std::vector<Tolerance> tolerances =
      OutputTolerances(options, program, expected, bounds);
  auto wrong = FirstWrong(found, expected, tolerances);
  if (wrong) {
    // A network that divides by small values magnifies what each of its right
    // steps rounds.
    MXC_ASSIGN(const std::vector<Tensor> roundings,
               ConditioningBounds(plain, plain_inputs, expected, tolerances));
    wrong = FirstWrong(found, expected, tolerances, roundings);
    largest.ill_conditioned = !wrong;
  }
  if (wrong) {
    const Buffer& output = program.buffers[outputs[wrong->first]];
    const Difference& d = wrong->second;
    Diagnostic error = UnplacedError(fmt::format(
        "every step is right, but output '{}' at {} is {}, expected {}",
        output.name, IndexText(d.worst, expected[wrong->first].shape()),
        d.found, d.expected));
    error.notes = {
        FindGuiltyPass(options, request, plan, inputs, cut, expected)};
    return error;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const Difference d = Compare(found[i], expected[i], options.tolerance);
    const double scale = d.scale > 0 ? d.scale : 1;
    largest.error = std::max(largest.error, d.relative());
    largest.bound = std::max(largest.bound, bounds[i] / scale);
  }
  return largest;
}

Result<VerifyReport> Verify(const VerifyOptions& options,
                            const CompileRequest& request,
                            const std::shared_ptr<LoadedNetwork>& network,
                            const InputSource& source, RightSteps& right) {
  TerminalProgress progress(options.style);
  MXC_ASSIGN(const Plan plan, MakePlan(request, network, progress));
  MXC_RETURN_IF_ERROR(RequireInputs(plan.programs, source.given));
  MXC_ASSIGN(const runtime::NamelessFile artifact, MakeTemporaryFile());
  {
    WorkCount count;
    const Working working(options.style, "generate", &count);
    MXC_RETURN_IF_ERROR(
        WriteArtifact(artifact.path(), plan.programs, plan.target,
                      {.cache = request.objects.get(), .count = &count}));
  }
  MXC_ASSIGN(const std::vector<StepPrice> prices, PricesOf(request, network));
  VerifyReport report;
  report.fewer_bits = request.weights.kind != WeightKind::kF32
                          ? FewerBits::kWeights
                          : FewerBits::kPrecision;
  for (size_t entry = 0; entry < plan.programs.size(); ++entry) {
    const Program& program = plan.programs[entry];
    MXC_ASSIGN(StepRunner runner,
               StepRunner::Open(artifact.path(), entry, program));
    MXC_ASSIGN(const Inputs inputs, MakeInputs(program, source));
    WorkCount count;
    const Working working(options.style, "verify", &count);
    MXC_ASSIGN(const std::vector<StepResult> steps,
               RunSteps(program, inputs, runner, options.tolerance,
                        options.repro_folder, right,
                        prices.empty() ? nullptr : &prices[entry], &count));
    report.steps.insert(report.steps.end(), steps.begin(), steps.end());
    if (entry > 0) continue;
    MXC_ASSIGN(report.outputs,
               CheckOutputs(options, request, plan, inputs, runner, steps));
  }
  return report;
}

// The gradients as outputs, a step that updates, and the gradients against
// differences, in double: what is left there is no rounding.
Result<VerifyReport> VerifyTraining(
    const VerifyOptions& options, const CompileRequest& request,
    const std::shared_ptr<LoadedNetwork>& network, const InputSource& source) {
  constexpr double kTolerance = 1e-4;
  CompileRequest gradients = request;
  gradients.training.optimizer.clear();
  RightSteps right;
  MXC_ASSIGN(VerifyReport report,
             Verify(options, gradients, network, source, right));
  MXC_ASSIGN(const VerifyReport updates,
             Verify(options, request, network, source, right));
  report.Add(updates);
  MXC_ASSIGN(const Program plain, PlainProgram(gradients, network));
  const auto source_at = [&](size_t point) {
    return SourceAt(PointAt(point), source, *network, plain);
  };
  const LossPoints points = {CountPoints(), [&](size_t point) {
                               return MakeInputs(plain, source_at(point));
                             }};
  {
    WorkCount count;
    const Working working(options.style, "differentiate", &count);
    MXC_ASSIGN(report.gradients,
               CheckGradients(gradients, *network, points, kTolerance, &count));
  }
  // Where the loss is no number, the steps were compared on none.
  std::set<size_t> elsewhere;
  for (const MovedLoss& loss : report.gradients->moved) {
    if (!elsewhere.insert(loss.point).second) continue;
    MXC_ASSIGN(const VerifyReport there, Verify(options, gradients, network,
                                                source_at(loss.point), right));
    report.Add(there);
  }
  return report;
}

Result<VerifyReport> VerifyAll(const VerifyOptions& options) {
  MXC_ASSIGN(CompileRequest request, RequestOf(options.request));
  // The entry that takes all lengths.
  if (!options.request.lengths.empty()) request.buckets.resize(1);
  if (options.gradients) request.entries = {"train"};
  InputSource source;
  source.seed = request.network.seed;
  source.style = options.style;
  MXC_ASSIGN(source.given, ReadInputs(options.inputs));
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(request.network));
  MXC_RETURN_IF_ERROR(network->SetClasses(request));
  MXC_ASSIGN(const Program plain, PlainProgram(request, network));
  source.positions = FindPositionInputs(plain);
  source.most = plain.entry.lengths;
  RightSteps right;
  return options.gradients ? VerifyTraining(options, request, network, source)
                           : Verify(options, request, network, source, right);
}

int RunVerify(VerifyOptions& options) {
  const Result<VerifyReport> report = VerifyAll(options);
  if (!report.ok()) return Fail(options.style, report.errors());
  PrintReport(options.style, *report);
  return report->is_complete() ? kSuccess : kFailure;
}

}  // namespace

std::function<int()> AddVerify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  options->repro_folder = "mxc-repro";
  CompileRequest& request = options->request.request;
  AddModelOptions(app, options->request);
  app.get_option("MODEL")->required();
  AddWeightOptions(app, request.network);
  AddClassesOption(app, request.network);
  app.add_option("--input", options->inputs,
                 "value of an input, converted to its type (default: random "
                 "positions or classes where it chooses one, else signed "
                 "numbers)")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  app.add_option("--atol", options->tolerance.absolute,
                 "absolute tolerance, times the largest value where above 1")
      ->capture_default_str();
  app.add_option("--rtol", options->tolerance.relative, "relative tolerance")
      ->capture_default_str();
  app.add_option("--repro", options->repro_folder,
                 "folder for the first wrong step")
      ->type_name("DIR")
      ->capture_default_str();
  AddLengthOption(
      app, options->request,
      "the entry for sequences of any length up to so many, at one that is "
      "drawn "
      "(--input length=FILE.npy says which): its outputs against those of the "
      "network made for that length. Where the network has several: "
      "S=512,T=128, "
      "and --input length:S=FILE.npy");
  app.add_flag("--grad", options->gradients,
               "gradients and a training step, too");
  AddPlanOptions(app, options->request);
  AddFunctionsOption(app);
  AddKernelOptions(app, request);
  AddTrainingOptions(app, request.training);
  ReferToCompile(app);
  AddJsonOption(app, options->style);
  AddQuietOption(app, options->style);
  app.footer(
      "exit code: 0 all is right; 1 something is wrong, or cannot be compared: "
      "a loss\nthat is not finite, or cut off, on every draw of inputs "
      "(\"not_finite\" and\n\"cut_off\" of --json)\n"
      "examples:\n"
      "  mxc verify models/lenet.json --init xavier\n"
      "  mxc verify models/lenet.json --init xavier --grad");
  return [options] { return RunVerify(*options); };
}

}  // namespace mxc
