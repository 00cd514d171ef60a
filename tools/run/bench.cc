// SPDX-License-Identifier: Apache-2.0
// mxc-run bench: latency, throughput and the time of each step.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/manifest.h"
#include "runtime/base/clock.h"
#include "runtime/base/destination.h"
#include "runtime/base/trace.h"
#include "runtime/base/visible.h"
#include "tools/run/bench_inputs.h"
#include "tools/run/bench_report.h"
#include "tools/run/failure.h"
#include "tools/run/measurement.h"
#include "tools/run/output.h"
#include "tools/run/session.h"
#include "tools/run/subcommand.h"
#include "tools/run/worker.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

struct BenchOptions {
  SessionOptions session;
  BenchInputs inputs;
  Effort effort;
  bool worker = false;
  std::string compare;
  std::string trace;
};

// Where an artifact's runs are measured and what is known about them before.
struct Contestant {
  Session session;
  api::Executor executor;
  BenchResult result;
};

Contestant Prepare(const std::string& artifact, const BenchOptions& options) {
  Session session = OpenSession(artifact, options.session);
  const bool chooses = options.session.batch == 0 &&
                       session.model.entry_count() > 1 &&
                       !options.inputs.feed.files.empty();
  if (chooses) session.entry = ChooseEntry(session, options.inputs.feed);
  api::Executor executor = session.Bind(/*profile=*/false);
  FillForBench(executor, session, options.inputs);
  BenchResult result;
  result.artifact = artifact;
  result.entry = session.model.entry(session.entry).name;
  result.batch = session.model.entry(session.entry).batch;
  result.threads = executor.threads();
  result.open_seconds = session.open_seconds;
  // A worker's first run is its first training step: it is Serve's.
  if (!options.worker) {
    result.first_seconds = runtime::SecondsOf(TimeRun(executor));
  }
  result.steps = session.model.steps(session.entry);
  const auto kernels =
      runtime::ManifestValues(session.model.manifest(), "kernels");
  if (session.entry < kernels.size()) {
    result.algorithms =
        runtime::KernelsOf(kernels[session.entry], result.steps.size());
  }
  return {std::move(session), std::move(executor), std::move(result)};
}

// Targets with a device are named DEVICE:MODEL.
bool RunsOnDevice(const api::Model& model) {
  const auto target = runtime::ManifestValues(model.manifest(), "target");
  return !target.empty() && target.front().find(':') != std::string::npos;
}

void ProfileSteps(Contestant& contestant, const BenchOptions& options) {
  api::Executor executor = contestant.session.Bind(/*profile=*/true);
  FillForBench(executor, contestant.session, options.inputs);
  contestant.result.step_ns = MeasureSteps(executor, /*seconds=*/1);
  // What this processor reaches says nothing of a device.
  if (RunsOnDevice(contestant.session.model)) return;
  contestant.result.roofline = MeasureRoofline(contestant.result.threads);
}

// A few runs, thread by thread.
std::string RecordRuns(Contestant& contestant, int process) {
  constexpr int kRuns = 3;
  runtime::Trace::NameThread("caller");
  runtime::Trace::Start();
  for (int i = 0; i < kRuns; ++i) contestant.executor.Run();
  runtime::Trace::Stop();
  return runtime::Trace::Events(
      process, contestant.result.artifact + ", three runs by thread");
}

// Processes 1 and 2: medians; from 3 on: runs.
void WriteTrace(const std::string& path,
                const std::vector<Contestant*>& contestants) {
  if (path.empty()) return;
  std::string events;
  for (size_t k = 0; k < contestants.size(); ++k) {
    const auto number = static_cast<int>(k) + 1;
    events += (k == 0 ? "" : ",\n") +
              MedianEvents(contestants[k]->result, number) + ",\n" +
              RecordRuns(*contestants[k], number + 2);
  }
  Require(runtime::Trace::WriteFile(path, events));
}

void BenchOne(const BenchOptions& options, const Reporting& reporting) {
  Contestant contestant = Prepare(options.session.artifact, options);
  contestant.result.runs = MeasureRuns(contestant.executor, options.effort);
  ProfileSteps(contestant, options);
  WriteTrace(options.trace, {&contestant});
  if (reporting.json) {
    PrintJson(ToJson(contestant.result));
    return;
  }
  PrintLatency(contestant.result);
  PrintSteps(contestant.result);
  PrintAdvice(contestant.result);
}

void BenchTwo(const BenchOptions& options, const Reporting& reporting) {
  Contestant a = Prepare(options.session.artifact, options);
  Contestant b = Prepare(options.compare, options);
  auto measured = MeasureInTurns({&a.executor, &b.executor}, options.effort);
  a.result.runs = std::move(measured[0]);
  b.result.runs = std::move(measured[1]);
  ProfileSteps(a, options);
  ProfileSteps(b, options);
  WriteTrace(options.trace, {&a, &b});
  if (reporting.json) {
    nlohmann::ordered_json report = ToJson(a.result);
    report["compare"] = ToJson(b.result);
    PrintJson(report);
    return;
  }
  PrintSideBySide(a.result, b.result);
  PrintAdvice(a.result);
}

void Bench(const BenchOptions& options, const Reporting& reporting) {
  Require(runtime::RequireWritable(
      options.trace, {options.session.artifact, options.compare}, ".json"));
  if (options.worker) {
    Contestant contestant = Prepare(options.session.artifact, options);
    Serve(contestant.session, contestant.executor);
  } else if (!options.compare.empty()) {
    BenchTwo(options, reporting);
  } else {
    BenchOne(options, reporting);
  }
}

}  // namespace

Command AddBench(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<BenchOptions>();
  DeclareSession(app, options->session);
  DeclareBenchInputs(app, options->inputs);
  app.option_defaults()->group("Measuring");
  app.add_option("--warmup", options->effort.warmup, "runs before measuring")
      ->check(AtLeast(0))
      ->capture_default_str();
  auto* iterations = app.add_option("--iterations", options->effort.iterations,
                                    "measure so many runs")
                         ->check(AtLeast(1));
  app.add_option("--duration", options->effort.seconds,
                 "or measure for so many seconds")
      ->check(Positive())
      ->capture_default_str()
      ->excludes(iterations);
  auto* worker =
      app.add_flag("--worker", options->worker,
                   "measure on request: lines 'run N' and 'output PATH'");
  app.add_option("--compare", options->compare,
                 "measure another artifact in turns with this one")
      ->excludes(worker);
  app.add_option("--trace", options->trace,
                 "write the steps for Perfetto or chrome://tracing: their "
                 "median times, and three runs thread by thread")
      ->excludes(worker)
      ->type_name("FILE.json");
  app.add_flag("--json", reporting.json, "report as JSON on stdout");
  app.footer(
      Footer("  mxc bench net.mxa\n"
             "  mxc bench net.mxa --threads 1 --duration 5 --json\n"
             "  mxc bench net.mxa --trace net-trace.json\n"));
  return [options, &reporting] { Bench(*options, reporting); };
}

}  // namespace mxc::run
