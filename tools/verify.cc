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
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "ir/program/interpreter.h"
#include "passes/pass.h"
#include "runtime/formats/npy.h"
#include "runtime/train/random.h"
#include "tools/arrays.h"
#include "tools/command.h"
#include "tools/plan.h"
#include "tools/step_runner.h"
#include "tools/verify_gradient.h"

namespace mxc {
namespace {

namespace fs = std::filesystem;

struct VerifyOptions {
  Manners manners;
  PlanOptions plan;
  std::vector<std::string> inputs;  // "data=x.npy"
  double atol = 1e-5, rtol = 1e-4;
  std::string repro_folder;
  bool gradients = false;
};

using Inputs = std::map<std::string, Tensor>;

// How far `found` is from `expected`.
struct Difference {
  double error = 0;    // largest |found − expected|
  double scale = 0;    // largest |expected|
  int64_t worst = -1;  // where it exceeds the tolerance most, or -1
  double found = 0, expected = 0;

  double relative() const { return scale > 0 ? error / scale : error; }
};

bool Differ(double found, double expected, double limit) {
  if (std::isnan(found) || std::isnan(expected)) {
    return std::isnan(found) != std::isnan(expected);
  }
  if (std::isinf(found) || std::isinf(expected)) return found != expected;
  return std::abs(found - expected) > limit;
}

Difference Compare(const Tensor& found, const Tensor& expected,
                   const VerifyOptions& options) {
  Difference d;
  const int64_t count = expected.shape().elements();
  for (int64_t i = 0; i < count; ++i) {
    const double e = std::abs(expected.At(i));
    if (std::isfinite(e)) d.scale = std::max(d.scale, e);
  }
  double excess = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double f = found.At(i), e = expected.At(i);
    const double error = std::abs(f - e);
    if (std::isfinite(error)) d.error = std::max(d.error, error);
    const double limit = options.atol * std::max(1.0, d.scale) +
                         options.rtol * (std::isfinite(e) ? std::abs(e) : 0);
    if (!Differ(f, e, limit)) continue;
    const double over = std::isfinite(error) ? error - limit : HUGE_VAL;
    if (d.worst >= 0 && over <= excess) continue;
    excess = over;
    d.worst = i, d.found = f, d.expected = e;
  }
  return d;
}

std::string IndexText(int64_t position, const Shape& shape) {
  Extents index(shape.dims().size());
  for (size_t axis = index.size(); axis-- > 0;) {
    index[axis] = position % shape[static_cast<int>(axis)];
    position /= shape[static_cast<int>(axis)];
  }
  return ToString(index);
}

// --- inputs

Result<Inputs> ReadInputs(const std::vector<std::string>& texts) {
  Inputs inputs;
  Diagnostics errors;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos) {
      errors.push_back(
          Complaint(fmt::format("--input '{}': expected NAME=FILE.npy", text)));
      continue;
    }
    Result<Tensor> value = ReadNpyTensor(text.substr(equals + 1));
    if (value.ok()) {
      inputs[text.substr(0, equals)] = std::move(*value);
    } else {
      errors.insert(errors.end(), value.errors().begin(), value.errors().end());
    }
  }
  if (!errors.empty()) return errors;
  return inputs;
}

// A given value, or numbers in [0, 1), which are legal indices, too.
Result<Tensor> InputFor(const Buffer& buffer, const Inputs& given,
                        uint64_t seed) {
  const auto found = given.find(buffer.name);
  if (found != given.end()) {
    if (found->second.type() == buffer.type) return found->second;
    return Complaint(fmt::format("--input '{}' is {}, expected {}", buffer.name,
                                 ToString(found->second.type()),
                                 ToString(buffer.type)));
  }
  std::vector<float> drawn(static_cast<size_t>(buffer.type.shape.elements()));
  train::RandomStream(seed, buffer.name).FillUniform(0.5, drawn);
  std::byte* bytes = nullptr;
  Tensor value = Tensor::Allocate(buffer.type, &bytes);
  for (int64_t i = 0; i < buffer.type.shape.elements(); ++i) {
    StoreElement(bytes + i * SizeOf(buffer.type.dtype), buffer.type.dtype,
                 static_cast<double>(drawn[static_cast<size_t>(i)]) + 0.5);
  }
  return value;
}

Result<Inputs> MakeInputs(const Program& program,
                          const VerifyOptions& options) {
  MXC_ASSIGN(const Inputs given, ReadInputs(options.inputs));
  Inputs inputs;
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    MXC_ASSIGN(inputs[buffer.name],
               InputFor(buffer, given, options.plan.network.seed));
  }
  return inputs;
}

// --- steps

struct StepResult {
  std::string name, kernel;
  Difference difference;
};

// One step alone, its operands beside it: enough to see the error again.
Status WriteRepro(const std::string& folder, const Program& program, int step,
                  std::span<const Tensor> inputs, const Tensor& found,
                  const Tensor& expected) {
  std::error_code error;
  fs::create_directories(folder, error);
  Program alone;
  alone.name = program.name;
  alone.entry = program.entry;
  alone.steps = {program.steps[step]};
  Step& only = alone.steps.front();
  const auto keep = [&](int& operand, BufferKind kind) {
    Buffer buffer = program.buffers[operand];
    buffer.kind = kind;
    buffer.alias_of = -1;
    buffer.state = -1;
    buffer.offset = -1;
    operand = static_cast<int>(alone.buffers.size());
    alone.buffers.push_back(buffer);
  };
  for (int& input : only.inputs) keep(input, BufferKind::kInput);
  for (int& output : only.outputs) keep(output, BufferKind::kOutput);
  std::ofstream(folder + "/step.program") << Print(alone);
  for (size_t i = 0; i < inputs.size(); ++i) {
    MXC_RETURN_IF_ERROR(
        WriteNpyTensor(fmt::format("{}/input_{}.npy", folder, i), inputs[i]));
  }
  MXC_RETURN_IF_ERROR(WriteNpyTensor(folder + "/found.npy", found));
  return WriteNpyTensor(folder + "/expected.npy", expected);
}

Diagnostic Wrong(const Program& program, int step, const std::string& kernel,
                 const Buffer& output, const Difference& d) {
  Diagnostic wrong;
  wrong.loc = program.steps[step].loc;
  wrong.message =
      fmt::format("step {} '{}' is wrong: '{}' at {} is {}, expected {}", step,
                  program.steps[step].name, output.name,
                  IndexText(d.worst, output.type.shape), d.found, d.expected);
  wrong.notes = {fmt::format("kernel {}", kernel),
                 fmt::format("largest error {:.2e} of largest value {:.2e}",
                             d.error, d.scale)};
  return wrong;
}

// Whether the buffer's elements lie in it as they are, not transformed for a
// kernel (Winograd): else what the steps made of them cannot be read.
bool Readable(const Buffer& buffer) {
  return buffer.layout.basis == KernelBasis::kPlain;
}

// Runs all steps; fails at the first that is wrong. What cannot be read is
// compared by what its readers make of it.
Result<std::vector<StepResult>> RunSteps(const VerifyOptions& options,
                                         const Program& program,
                                         const Inputs& inputs,
                                         StepRunner& runner) {
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    runner.Write(b, inputs.at(program.buffers[b].name));
  }
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    const Tensor& initial = program.buffers[b].constant;
    if (!initial.empty()) runner.Write(b, initial);
  }
  std::map<int, Tensor> unreadable;  // buffers, as they must be
  const auto read = [&](int buffer) {
    const auto found = unreadable.find(buffer);
    return found == unreadable.end() ? runner.Read(buffer) : found->second;
  };
  std::vector<StepResult> results;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const int index = static_cast<int>(s);
    std::vector<Tensor> operands;
    for (const int input : step.inputs) operands.push_back(read(input));
    runner.RunStep(index);
    const std::vector<Tensor> expected = InterpretStep(program, step, operands);
    StepResult result{step.name, runner.KernelName(index), {}};
    for (size_t o = 0; o < expected.size(); ++o) {
      if (!Readable(program.buffers[step.outputs[o]])) {
        unreadable[step.outputs[o]] = expected[o];
        continue;
      }
      const Tensor found = runner.Read(step.outputs[o]);
      const Difference d = Compare(found, expected[o], options);
      if (d.relative() >= result.difference.relative()) result.difference = d;
      if (d.worst < 0) continue;
      MXC_RETURN_IF_ERROR(WriteRepro(options.repro_folder, program, index,
                                     operands, found, expected[o]));
      Diagnostic wrong = Wrong(program, index, result.kernel,
                               program.buffers[step.outputs[o]], d);
      wrong.notes.push_back("repro in " + options.repro_folder);
      return wrong;
    }
    results.push_back(result);
  }
  return results;
}

// --- passes

Result<std::vector<Tensor>> InterpretPlan(const PlanOptions& options,
                                          const Inputs& inputs) {
  MXC_ASSIGN(const Plan plan, MakePlan(options, {.quiet = true}));
  return Interpret(plan.programs.front(), inputs);
}

// The first output that differs, or nothing.
std::optional<std::pair<size_t, Difference>> FirstWrong(
    const VerifyOptions& options, const std::vector<Tensor>& found,
    const std::vector<Tensor>& expected) {
  for (size_t i = 0; i < found.size(); ++i) {
    const Difference d = Compare(found[i], expected[i], options);
    if (d.worst >= 0) return std::pair(i, d);
  }
  return std::nullopt;
}

// The optional pass without which the outputs are right.
std::string FindGuiltyPass(const VerifyOptions& options, const Inputs& inputs,
                           const std::vector<Tensor>& expected) {
  for (const PassDescription& pass : AllPasses()) {
    if (pass.required) continue;
    PlanOptions without = options.plan;
    without.disabled.emplace_back(pass.name);
    const auto found = InterpretPlan(without, inputs);
    if (found.ok() && !FirstWrong(options, *found, expected)) {
      return fmt::format("right without pass '{}'", pass.name);
    }
  }
  return "no single pass is to blame";
}

Result<double> CheckOutputs(const VerifyOptions& options,
                            const Program& program, const Inputs& inputs,
                            const StepRunner& runner) {
  PlanOptions plain = options.plan;
  plain.level = 0;
  MXC_ASSIGN(const std::vector<Tensor> expected, InterpretPlan(plain, inputs));
  std::vector<Tensor> found;
  const std::vector<int> outputs = program.BuffersOf(BufferKind::kOutput);
  for (const int b : outputs) found.push_back(runner.Read(b));
  if (const auto wrong = FirstWrong(options, found, expected)) {
    const Buffer& output = program.buffers[outputs[wrong->first]];
    const Difference& d = wrong->second;
    Diagnostic error = Complaint(fmt::format(
        "every step is right, but output '{}' at {} is {}, expected {}",
        output.name, IndexText(d.worst, output.type.shape), d.found,
        d.expected));
    error.notes = {FindGuiltyPass(options, inputs, expected)};
    return error;
  }
  double largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    largest =
        std::max(largest, Compare(found[i], expected[i], options).relative());
  }
  return largest;
}

// --- the report

struct Report {
  std::vector<StepResult> steps;
  double output_error = 0;
  std::optional<GradientReport> gradients;
};

// A file that is gone when this goes.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(fs::temp_directory_path() /
              fmt::format("mxc-verify-{}.mxa", getpid())) {}
  ~TemporaryFile() {
    std::error_code error;
    fs::remove(path_, error);
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

Result<Report> Verify(const VerifyOptions& options) {
  MXC_ASSIGN(const Plan plan, MakePlan(options.plan, options.manners));
  const TemporaryFile artifact;
  MXC_ASSIGN(const CodeImage code,
             GenerateCode(plan.programs, plan.target, {}));
  MXC_RETURN_IF_ERROR(WriteArtifact(artifact.path(), plan.programs, code,
                                    plan.target, {}, plan.source->text));
  Report report;
  for (size_t entry = 0; entry < plan.programs.size(); ++entry) {
    const Program& program = plan.programs[entry];
    MXC_ASSIGN(StepRunner runner,
               StepRunner::Open(artifact.path(), entry, program));
    MXC_ASSIGN(const Inputs inputs, MakeInputs(program, options));
    const Stopwatch watch;
    MXC_ASSIGN(const std::vector<StepResult> steps,
               RunSteps(options, program, inputs, runner));
    report.steps.insert(report.steps.end(), steps.begin(), steps.end());
    if (entry > 0) continue;
    MXC_ASSIGN(report.output_error,
               CheckOutputs(options, program, inputs, runner));
  }
  return report;
}

// The gradients as outputs, a step that updates, and the gradients against
// differences, in double: what is left there is no rounding.
Result<Report> VerifyTraining(VerifyOptions options) {
  constexpr double kTolerance = 1e-4;
  options.plan.entries = {"train"};
  VerifyOptions step = options;
  options.plan.training.optimizer.clear();
  MXC_ASSIGN(Report report, Verify(options));
  MXC_ASSIGN(const Report updates, Verify(step));
  report.steps.insert(report.steps.end(), updates.steps.begin(),
                      updates.steps.end());
  PlanOptions plain = options.plan;
  plain.level = 0;
  MXC_ASSIGN(const Plan plan, MakePlan(plain, {.quiet = true}));
  MXC_ASSIGN(const Inputs inputs, MakeInputs(plan.programs.front(), options));
  MXC_ASSIGN(report.gradients,
             CheckGradients(options.plan, inputs, kTolerance));
  return report;
}

Json ToJson(const GradientReport& gradients) {
  return {{"compared", gradients.compared},
          {"largest_difference", gradients.largest},
          {"worst", gradients.worst},
          {"not_smooth", gradients.rough}};
}

void Print(const GradientReport& gradients) {
  fmt::print("{} right; largest difference from central differences {:.1e}{}\n",
             Count(gradients.compared, "gradient"), gradients.largest,
             gradients.worst.empty() ? "" : ", in '" + gradients.worst + "'");
  if (gradients.rough.empty()) return;
  fmt::print("not smooth enough to compare: {}\n",
             fmt::join(gradients.rough, ", "));
}

int Print(const VerifyOptions& options, const Report& report) {
  if (options.manners.json) {
    Json steps = Json::array();
    for (const StepResult& step : report.steps) {
      steps.push_back({{"name", step.name},
                       {"kernel", step.kernel},
                       {"error", step.difference.error},
                       {"scale", step.difference.scale}});
    }
    Json json = {{"passed", true},
                 {"output_error", report.output_error},
                 {"steps", steps}};
    if (report.gradients) json["gradients"] = ToJson(*report.gradients);
    PrintJson(json);
    return kSuccess;
  }
  const StepResult* worst = nullptr;
  for (const StepResult& step : report.steps) {
    if (!worst || step.difference.relative() > worst->difference.relative()) {
      worst = &step;
    }
  }
  fmt::print("{} right; largest error {:.1e} of the largest value{}\n",
             Count(std::ssize(report.steps), "step"),
             worst ? worst->difference.relative() : 0,
             worst ? ", in '" + worst->name + "'" : "");
  fmt::print(
      "outputs right; {:.1e} from the interpreter without optimization\n",
      report.output_error);
  if (report.gradients) Print(*report.gradients);
  return kSuccess;
}

int RunVerify(VerifyOptions& options) {
  const Result<Report> report =
      options.gradients ? VerifyTraining(options) : Verify(options);
  if (!report.ok()) return Fail(options.manners, report.errors());
  return Print(options, *report);
}

}  // namespace

std::function<int()> AddVerify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  options->repro_folder = "mxc-repro";
  AddModelOptions(app, options->plan.network);
  app.get_option("MODEL")->required();
  AddWeightOptions(app, options->plan.network);
  app.add_option("--input", options->inputs,
                 "value of an input (default: random numbers in [0, 1))")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  app.add_option("--atol", options->atol,
                 "absolute tolerance, times the largest value where above 1")
      ->capture_default_str();
  app.add_option("--rtol", options->rtol, "relative tolerance")
      ->capture_default_str();
  app.add_option("--repro", options->repro_folder,
                 "folder for the first wrong step")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--grad", options->gradients,
               "gradients and a training step, too");
  AddPlanOptions(app, options->plan);
  AddTrainingOptions(app, options->plan);
  AddJsonOption(app, options->manners);
  AddQuietOption(app, options->manners);
  return [options] { return RunVerify(*options); };
}

}  // namespace mxc
