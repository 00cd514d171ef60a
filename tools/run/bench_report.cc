// SPDX-License-Identifier: Apache-2.0
#include "tools/run/bench_report.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "runtime/base/number_text.h"
#include "runtime/base/status.h"
#include "runtime/base/terminal.h"
#include "runtime/base/visible.h"
#include "runtime/executor/executor.h"
#include "tools/run/output.h"
#include "tools/run/step_table.h"

namespace mxc::run {
namespace {

using Json = nlohmann::ordered_json;
using runtime::Format;
using runtime::Measured;

// "direct 16c"; of artifacts that do not say, the name of the code.
std::string AlgorithmOf(const BenchResult& result, size_t step) {
  return result.algorithms.empty() ? result.steps[step].kernel
                                   : result.algorithms[step];
}

struct Line {
  const char* name;
  double percent;
};
constexpr Line kPercentiles[] = {
    {"min", 0}, {"p5", 5}, {"median", 50}, {"p90", 90}, {"p99", 99}};

std::string Time(double ns) {
  if (ns < 1e3) return Format("%.0f ns", ns);
  if (ns < 1e6) return Format("%.2f us", ns / 1e3);
  if (ns < 1e9) return Format("%.3f ms", ns / 1e6);
  return Format("%.3f s", ns / 1e9);
}

std::string Bytes(double bytes) {
  if (bytes < 1024) return Format("%.0f B", bytes);
  if (bytes < 1024 * 1024) return Format("%.1f KiB", bytes / 1024);
  return Format("%.1f MiB", bytes / 1024 / 1024);
}

double Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// What keeps a step from being faster, and how near to that it is.
struct Bound {
  const char* name = "";
  double share = 0;  // of what the whole machine could do
};

Bound BoundOf(const BenchResult& result, size_t i) {
  const mxc_step_summary& step = result.steps[i];
  const Roofline& roofline = result.roofline;
  if (roofline.gflops == 0) return {};
  const double compute =
      roofline.ComputeNanoseconds(static_cast<double>(step.flops));
  const double memory =
      roofline.MemoryNanoseconds(static_cast<double>(step.bytes));
  const auto ns = static_cast<double>(std::max<int64_t>(1, result.step_ns[i]));
  const char* name = step.tasks < result.threads ? "tasks"
                     : compute > memory          ? "compute"
                                                 : "memory";
  return {name, std::max(compute, memory) / ns};
}

// Returns whether a step takes less time than its operations would.
bool BeatsTheArithmetic(const BenchResult& result) {
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const double ns = result.roofline.ComputeNanoseconds(
        static_cast<double>(result.steps[i].flops));
    const bool counted =
        result.roofline.gflops > 0 && result.steps[i].tasks > 0;
    if (counted && ns > static_cast<double>(result.step_ns[i])) return true;
  }
  return false;
}

// The share of the time in steps that wait for memory.
double MemoryBoundShare(const BenchResult& result) {
  double bound = 0;
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const bool waits = BoundOf(result, i).name == std::string_view("memory");
    if (waits) bound += static_cast<double>(result.step_ns[i]);
  }
  return bound / std::max(1.0, Sum(result.step_ns));
}

// What a line of a terminal cannot hold goes on below, as far to the right as
// what follows `begin`.
void PrintFitted(const std::string& begin,
                 const std::vector<std::string>& pieces,
                 const char* separator) {
  const size_t columns = runtime::TerminalColumns(STDOUT_FILENO);
  std::string line = begin + pieces[0];
  for (const std::string& piece : std::span(pieces).subspan(1)) {
    line += separator;
    if (columns > 0 && line.size() + piece.size() > columns) {
      line.erase(line.find_last_not_of(' ') + 1);
      PrintOut("%s\n", line.c_str());
      line.assign(begin.size(), ' ');
    }
    line += piece;
  }
  PrintOut("%s\n", line.c_str());
}

// "  latency    min 4.05 us  p5 4.05 us"
void PrintFacts(const char* name, const std::vector<std::string>& facts,
                const char* separator) {
  PrintFitted(Format("  %-10s ", name), facts, separator);
}

void PrintRoofline(const Roofline& roofline) {
  std::vector<std::string> facts;
  for (const Roofline::Level& level : roofline.levels) {
    facts.push_back(Format("%.0f GB/s of %s", level.gbytes_per_second,
                           Bytes(static_cast<double>(level.bytes)).c_str()));
  }
  facts[0].insert(0, Format("%.0f GFLOP/s; reads ", roofline.gflops));
  PrintFacts("machine", facts, ", ");
}

Json ToJson(const Roofline& roofline) {
  Json levels = Json::array();
  for (const Roofline::Level& level : roofline.levels) {
    levels.push_back({{"bytes", level.bytes},
                      {"gbytes_per_s", Measured(level.gbytes_per_second)}});
  }
  return {{"gflops", Measured(roofline.gflops)}, {"levels", levels}};
}

}  // namespace

double BenchResult::Throughput() const {
  const double mean = runs.Mean();
  return mean > 0
             ? static_cast<double>(std::max<int64_t>(batch, 1)) * 1e9 / mean
             : 0;
}

Json ToJson(const BenchResult& result) {
  Json latency;
  for (const auto& [name, percent] : kPercentiles) {
    latency[name] = result.runs.Percentile(percent);
    if (std::string(name) == "median")
      latency["mean"] = Measured(result.runs.Mean());
  }
  Json steps = Json::array();
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const mxc_step_summary& step = result.steps[i];
    const Bound bound = BoundOf(result, i);
    steps.push_back({{"name", step.name},
                     {"ns", result.step_ns[i]},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"tasks", step.tasks},
                     {"bound", bound.name},
                     {"roofline_share", Measured(bound.share)},
                     {"algorithm", AlgorithmOf(result, i)},
                     {"kernel", step.kernel}});
  }
  return {{"artifact", result.artifact},
          {"entry", result.entry},
          {"batch", result.batch},
          {"threads", result.threads},
          {"iterations", result.runs.count()},
          {"open_seconds", result.open_seconds},
          {"first_seconds", result.first_seconds},
          {"latency_ns", latency},
          {"throughput_per_s", Measured(result.Throughput())},
          {"roofline", ToJson(result.roofline)},
          {"steps", steps},
          {"advice", Advice(result)}};
}

void PrintLatency(const BenchResult& result) {
  PrintOut("%s  batch %lld, %d thread%s, %zu run%s\n",
           runtime::Visible(result.artifact).c_str(),
           static_cast<long long>(result.batch), result.threads,
           result.threads == 1 ? "" : "s", result.runs.count(),
           result.runs.count() == 1 ? "" : "s");
  PrintOut("  opened in %s, first run %s\n",
           Time(result.open_seconds * 1e9).c_str(),
           Time(result.first_seconds * 1e9).c_str());
  std::vector<std::string> times;
  for (const auto& [name, percent] : kPercentiles) {
    const auto ns = static_cast<double>(result.runs.Percentile(percent));
    times.push_back(Format("%s %s", name, Time(ns).c_str()));
  }
  times.push_back("mean " + Time(result.runs.Mean()));
  PrintFacts("latency", times, "  ");
  double flops = 0;
  for (const mxc_step_summary& step : result.steps) {
    flops += static_cast<double>(step.flops);
  }
  const auto median = static_cast<double>(result.runs.Percentile(50));
  PrintFacts("throughput",
             {Format("%.1f samples/s", result.Throughput()),
              Format("%.1f GFLOP/s", flops / std::max(1.0, median))},
             ", ");
}

std::string MedianEvents(const BenchResult& result, int process) {
  Json events = Json::array();
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", process},
                    {"args", {{"name", result.artifact + ", medians"}}}});
  int64_t begin = 0;
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const mxc_step_summary& step = result.steps[i];
    events.push_back({{"name", step.name},
                      {"cat", "step"},
                      {"ph", "X"},
                      {"ts", static_cast<double>(begin) / 1e3},
                      {"dur", static_cast<double>(result.step_ns[i]) / 1e3},
                      {"pid", process},
                      {"tid", 1},
                      {"args",
                       {{"step", i},
                        {"kernel", step.kernel},
                        {"algorithm", AlgorithmOf(result, i)},
                        {"flops", step.flops},
                        {"bytes", step.bytes},
                        {"tasks", step.tasks},
                        {"bound", BoundOf(result, i).name}}}});
    begin += result.step_ns[i];
  }
  std::string text;
  for (const Json& event : events) {
    text += (text.empty() ? "" : ",\n") +
            event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text;
}

void PrintSteps(const BenchResult& result) {
  if (result.steps.empty()) return;
  const double total = std::max(1.0, Sum(result.step_ns));
  if (result.roofline.gflops > 0) PrintRoofline(result.roofline);
  PrintOut("\n");
  const StepTable table;
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const mxc_step_summary& step = result.steps[i];
    if (step.tasks == 0) continue;  // a view
    const auto ns =
        static_cast<double>(std::max<int64_t>(1, result.step_ns[i]));
    const auto flops = static_cast<double>(step.flops);
    const auto bytes = static_cast<double>(step.bytes);
    const Bound bound = BoundOf(result, i);
    const double share = 100 * static_cast<double>(result.step_ns[i]) / total;
    table.Print(
        {Time(static_cast<double>(result.step_ns[i])), Format("%.1f%%", share),
         Format("%.1f", flops / ns), Bytes(bytes), Format("%.1f", bytes / ns),
         std::to_string(step.tasks), Format("%.0f%%", 100 * bound.share),
         bound.name},
        step.name);
  }
  PrintOut("%12s  100%% of the steps\n", Time(total).c_str());
  if (BeatsTheArithmetic(result)) {
    PrintOut(
        "above 100%% of the roof: operations are counted as the mathematics "
        "has\n"
        "them, and Winograd's and Strassen's kernels do with fewer\n");
  }
}

void PrintSideBySide(const BenchResult& a, const BenchResult& b) {
  PrintOut("A  %s\nB  %s\n\n%10s %14s %14s %8s\n",
           runtime::Visible(a.artifact).c_str(),
           runtime::Visible(b.artifact).c_str(), "", "A", "B", "A / B");
  const auto row = [](const char* name, double left, double right) {
    PrintOut("%10s %14s %14s %8.3f\n", name, Time(left).c_str(),
             Time(right).c_str(), left / std::max(1.0, right));
  };
  for (const auto& [name, percent] : kPercentiles) {
    row(name, static_cast<double>(a.runs.Percentile(percent)),
        static_cast<double>(b.runs.Percentile(percent)));
  }
  row("mean", a.runs.Mean(), b.runs.Mean());
}

void PrintAdvice(const BenchResult& result) {
  for (const std::string& sentence : Advice(result)) {
    std::istringstream text(runtime::Visible(sentence));
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    PrintFitted("advice: ", words, " ");
  }
}

std::vector<std::string> Advice(const BenchResult& result) {
  std::vector<std::string> advice;
  const int processors = runtime::AvailableThreads();
  if (result.threads > processors) {
    advice.push_back(Format(
        "%d threads share %d processor%s and wait for each other; use "
        "--threads %d",
        result.threads, processors, processors == 1 ? "" : "s", processors));
  }
  const auto fastest = static_cast<double>(result.runs.Percentile(0));
  const auto slow = static_cast<double>(result.runs.Percentile(90));
  if (result.runs.count() >= 10 && slow > 1.3 * fastest) {
    advice.push_back(
        Format("a tenth of the runs took over %.1f times the "
               "fastest: the clock is not steady or other "
               "programs are running; compare p5 or minima",
               slow / std::max(1.0, fastest)));
  }
  const double share = MemoryBoundShare(result);
  if (share > 0.5 && fastest > 1e5) {
    advice.push_back(
        Format("%.0f%% of the time goes to steps that wait for "
               "memory; a larger batch uses each weight more "
               "often, and --weights copy may read them faster",
               100 * share));
  }
  return advice;
}

}  // namespace mxc::run
