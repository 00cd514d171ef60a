// SPDX-License-Identifier: Apache-2.0
#include "tools/overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <span>

#include "ir/program/in_place.h"
#include "ir/program/steps/branch.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/collective.h"
#include "ir/program/steps/copy.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/wait.h"
#include "runtime/base/terminal.h"
#include "runtime/base/visible.h"
#include "tools/arena_sharers.h"
#include "tools/diagram/diagram.h"
#include "tools/driver/kernel_name.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

constexpr const char* kKindNames[] = {"input",    "output", "weight",
                                      "internal", "state",  "next state"};

// How many tasks, or the grid that a device is told: ", 12 blocks of 256
// threads, 8 KB shared".
std::string DealingText(const StepRow& step) {
  if (step.block_threads == 0) {
    return step.tasks > 1 ? fmt::format(", {} tasks", step.tasks) : "";
  }
  std::string text = fmt::format(", {} of {}", Count(step.blocks, "block"),
                                 Count(step.block_threads, "thread"));
  if (step.shared_bytes > 0) {
    text += fmt::format(", {} shared", FormatBytes(step.shared_bytes));
  }
  return text;
}

std::string SecondsText(double seconds) {
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

// Buffers of each arena by offset, then by the step that writes them.
std::vector<int> ArenaOrder(const Overview& overview) {
  std::vector<int> order;
  for (size_t i = 0; i < overview.buffers.size(); ++i) {
    if (overview.buffers[i].in_arena()) order.push_back(static_cast<int>(i));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const BufferRow& x = overview.buffers[a];
    const BufferRow& y = overview.buffers[b];
    return std::tie(x.on_host, x.offset, x.first, a) <
           std::tie(y.on_host, y.offset, y.first, b);
  });
  return order;
}

std::vector<std::string> NamesOf(const Overview& overview,
                                 std::span<const int> buffers) {
  std::vector<std::string> names;
  for (const int buffer : buffers) {
    const BufferRow& row = overview.buffers[buffer];
    names.push_back(row.name + (row.kind == "alias" ? " (alias)" : ""));
  }
  return names;
}

std::string SharersText(const Overview& overview, const ArenaSharers& sharers) {
  constexpr size_t kShown = 3;
  const std::span<const int> all = sharers.buffers;
  const auto shown = all.first(std::min(kShown, all.size()));
  const size_t more = all.size() - shown.size() + sharers.more;
  const std::string text =
      fmt::format("{}", fmt::join(NamesOf(overview, shown), ", "));
  return more == 0 ? text : fmt::format("{} and {} more", text, more);
}

void PrintBytes(std::string_view what, int64_t bytes, std::string_view note) {
  PrintOut("  {:<16} {:>12} B  {:>10}  {}\n", what, bytes, FormatBytes(bytes),
           note);
}

double Ratio(int64_t a, int64_t b) {
  return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 1;
}

std::string FlopsText(int64_t flops) {
  if (flops >= 1'000'000'000) return fmt::format("{:.2f} G", flops * 1e-9);
  if (flops >= 1'000'000) return fmt::format("{:.1f} M", flops * 1e-6);
  if (flops >= 1'000) return fmt::format("{:.1f} k", flops * 1e-3);
  return fmt::format("{}", flops);
}

// The table of steps: all of it, or what a terminal has room for.
struct StepColumns {
  size_t name = 36;
  bool output = true, dealing = true;
};

std::string KernelText(const StepRow& step, const StepColumns& columns) {
  return step.algorithm + (columns.dealing ? DealingText(step) : "");
}

// The less telling columns are left out before names are cut.
StepColumns ColumnsFor(const Overview& overview) {
  constexpr StepColumns kWays[] = {
      {}, {.output = false}, {.output = false, .dealing = false}};
  constexpr size_t kLeastName = 12;
  const size_t columns = runtime::TerminalColumns(STDOUT_FILENO);
  if (columns == 0) return {};
  size_t rest = 0;
  for (const StepColumns& way : kWays) {
    size_t kernel = 0;
    for (const StepRow& step : overview.steps) {
      kernel = std::max(kernel, KernelText(step, way).size());
    }
    const size_t others = 30 + (way.output ? 23 : 0) +
                          (overview.modelled_seconds() > 0 ? 12 : 0) + kernel;
    rest = columns > others ? columns - others : 0;
    if (rest >= way.name) return way;
  }
  StepColumns narrow = kWays[2];
  narrow.name = std::max(rest, kLeastName);
  return narrow;
}

}  // namespace

std::string Shorten(const std::string& text, size_t longest) {
  if (text.size() <= longest) return text;
  return text.substr(0, longest - 3) + "...";
}

std::string FormatFlops(int64_t flops) {
  return FlopsText(flops) + (flops < 1000 ? " FLOP" : "FLOP");
}

std::string Overview::Title() const {
  std::string title = network.empty() ? entry : network + "." + entry;
  if (batch > 0) title += fmt::format(", batch {}", batch);
  return title;
}

int64_t Overview::CountOf(std::string_view kind) const {
  return std::ranges::count(buffers, kind, &BufferRow::kind);
}

int64_t Overview::BytesOf(std::string_view kind) const {
  int64_t bytes = 0;
  for (const BufferRow& buffer : buffers) {
    if (buffer.kind == kind) bytes += buffer.bytes;
  }
  return bytes;
}

int64_t Overview::flops() const {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t sum = 0;
  for (const StepRow& step : steps) {
    sum = step.flops < kMost - sum ? sum + step.flops : kMost;
  }
  return sum;
}

double Overview::modelled_seconds() const {
  double sum = 0;
  for (const StepRow& step : steps) sum += step.modelled_seconds;
  return sum;
}

namespace {

StepRow::Kind KindOf(const Program& program, const Step& step) {
  if (IsIdle(program, step)) return StepRow::Kind::kView;
  if (ComputesContraction(step)) return StepRow::Kind::kContraction;
  if (step.body.As<Repeat>()) return StepRow::Kind::kRepeat;
  if (step.body.As<Branch>()) return StepRow::Kind::kBranch;
  if (step.body.As<Call>() || step.body.As<Collective>()) {
    return StepRow::Kind::kCall;
  }
  if (step.body.As<Copy>()) return StepRow::Kind::kCopy;
  if (step.body.As<Start>()) return StepRow::Kind::kStart;
  if (step.body.As<Wait>()) return StepRow::Kind::kWait;
  return StepRow::Kind::kLoops;
}

}  // namespace

Overview MakeOverview(const Program& program, const Target& target,
                      const KernelCatalog& catalog) {
  Overview overview;
  overview.network = program.name;
  overview.entry = program.entry.Name();
  overview.updates = program.entry.purpose == Purpose::kUpdate;
  overview.memory = MemoryOf(program);
  for (const int input : program.BuffersOf(BufferKind::kInput)) {
    if (program.buffers[input].use.role == TensorRole::kLength) continue;
    const Shape& shape = program.buffers[input].type.shape;
    overview.batch = shape.rank() > 0 ? shape[0] : 0;
    break;
  }
  const std::vector<LiveRange> live = LiveRanges(program);
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    const int root = program.Root(static_cast<int>(i));
    BufferRow row;
    row.name = b.name;
    row.type = ToString(b.type);
    if (!b.layout.row_major()) row.layout = ToString(b.layout);
    row.kind = b.alias_of >= 0 ? "alias" : kKindNames[static_cast<int>(b.kind)];
    row.loss = b.use.role == TensorRole::kLoss;
    row.length = b.use.role == TensorRole::kLength;
    for (const LengthAxis& open : b.use.open) {
      row.open.emplace_back(open.axis, open.length);
    }
    row.on_host = program.IsOnHost(b);
    row.root = root;
    row.offset = program.buffers[root].offset;
    row.bytes = b.bytes();
    row.first = live[root].first;
    row.last = live[root].last;
    overview.buffers.push_back(row);
  }
  for (const Step& step : program.steps) {
    StepRow row;
    row.name = step.name;
    row.kind = KindOf(program, step);
    row.kernel = row.algorithm = KernelName(step, catalog);
    row.inputs = step.inputs;
    row.outputs = step.outputs;
    row.flops = step.flops(program);
    row.scratch = step.scratch_bytes;
    if (target.models_time()) {
      row.modelled_seconds = catalog.Seconds(program, step);
    }
    for (const std::vector<int>* operands : {&step.inputs, &step.outputs}) {
      for (const int b : *operands) row.bytes += program.buffers[b].bytes();
    }
    overview.steps.push_back(row);
  }
  NoteReadsAndPlaces(overview);
  return overview;
}

void NoteReadsAndPlaces(Overview& overview) {
  for (StepRow& step : overview.steps) {
    for (const int input : step.inputs) {
      // Windows of a loop within a loop have windows for roots.
      BufferRow* row = &overview.buffers[input];
      for (; !row->read; row = &overview.buffers[row->root]) row->read = true;
    }
    const bool runs = !step.inputs.empty() && !step.outputs.empty();
    if (!runs || step.kind == StepRow::Kind::kWait) continue;
    const bool from = overview.buffers[step.inputs[0]].on_host;
    const bool to = overview.buffers[step.outputs[0]].on_host;
    step.place = from != to ? (to ? " to the host" : " to the device")
                 : to       ? " on the host"
                            : "";
    step.kernel += step.place;
    step.algorithm += step.place;
  }
}

namespace {

// ", or shorter along axis 1", "… along axes 2 (T) and 3 (S)"
std::string ShorterText(const BufferRow& row) {
  std::string text;
  for (size_t k = 0; k < row.open.size(); ++k) {
    const auto& [axis, length] = row.open[k];
    if (k > 0) text += k + 1 == row.open.size() ? " and " : ", ";
    text += std::to_string(axis);
    if (!length.empty()) text += fmt::format(" ({})", length);
  }
  if (text.empty()) return text;
  return fmt::format(", or shorter along {} {}",
                     row.open.size() == 1 ? "axis" : "axes", text);
}

}  // namespace

void PrintSummary(const Overview& overview) {
  for (const BufferRow& b : overview.buffers) {
    if (b.kind == "input" || b.kind == "output") {
      if (b.length) continue;
      const bool unused = b.kind == "input" && !b.read;
      PrintOut("  {:<10} {}  {}{}{}\n", b.kind, b.name, b.type, ShorterText(b),
               unused ? "  not used" : "");
    }
  }
  const auto print = [&](const char* what, std::string_view kind) {
    PrintOut("  {:<10} {}, {}\n", what, Count(overview.CountOf(kind), "array"),
             FormatBytes(overview.BytesOf(kind)));
  };
  if (!overview.device.empty()) PrintOut("  device     {}\n", overview.device);
  print("weights", "weight");
  if (overview.CountOf("prepared") > 0) print("at load", "prepared");
  if (overview.CountOf("state") > 0) print("states", "state");
  const auto launches = std::ranges::count_if(
      overview.steps,
      [](const StepRow& step) { return step.block_threads > 0; });
  PrintOut("  {:<10} {}{}, {}\n", "steps", overview.steps.size(),
           launches > 0 ? fmt::format(" ({} launched)", launches) : "",
           FormatFlops(overview.flops()));
  PrintOut("  {:<10} peak {}, lower bound {}, {} without sharing\n", "memory",
           FormatBytes(overview.memory.peak()),
           FormatBytes(overview.memory.lower_bound()),
           FormatBytes(overview.memory.naive()));
}

void PrintMemory(const Overview& overview) {
  const int64_t outputs = overview.memory.outputs;
  const int64_t bound = overview.memory.lower_bound();
  PrintBytes(
      "activations", overview.memory.activations(),
      fmt::format("arena {} B, outputs {} B", overview.memory.arena, outputs));
  PrintBytes("workspace", overview.memory.workspace, "for each thread");
  PrintBytes("peak", overview.memory.peak(),
             fmt::format("{:.3f} x lower bound",
                         Ratio(overview.memory.peak(), bound)));
  PrintBytes("lower bound", bound, "largest sum of live bytes");
  PrintBytes("without sharing", overview.memory.naive(), "");
  if (overview.memory.host_arena > 0) {
    PrintBytes("on the host", overview.memory.host_arena,
               "arena of the steps that run there");
  }
  if (overview.state_bytes() > 0) {
    PrintBytes("states", overview.state_bytes(),
               "parameters, optimizer's states");
  }
  if (overview.CountOf("prepared") > 0) {
    PrintBytes("at load", overview.BytesOf("prepared"),
               "weights, transformed at opening");
  }
  constexpr size_t kName = 24, kBefore = 36 + kName;
  const size_t columns = runtime::TerminalColumns(STDOUT_FILENO);
  const size_t rest = columns > 0 ? std::max(columns, kBefore + 4) - kBefore
                                  : std::string::npos;
  PrintOut("\n  {:>10} {:>10}  {:<9} {:<24} {}\n", "offset", "bytes", "steps",
           "buffer", "shares bytes with");
  const std::vector<ArenaSharers> sharers = SharersOf(overview);
  for (const int i : ArenaOrder(overview)) {
    const BufferRow& b = overview.buffers[i];
    const std::string name =
        runtime::Visible(b.name) + (b.on_host ? " on the host" : "");
    PrintOut("  {:>10} {:>10}  {:<9} {:<24} {}\n", b.offset, b.bytes,
             fmt::format("{}-{}", b.first, b.last),
             columns > 0 ? runtime::CutFront(name, kName) : name,
             Shorten(SharersText(overview, sharers[i]), rest));
  }
}

void PrintSteps(const Overview& overview) {
  const double all = overview.modelled_seconds();
  const StepColumns columns = ColumnsFor(overview);
  const auto print = [&](const auto& step, const std::string& name,
                         const std::string& type, const std::string& flops,
                         const std::string& bytes, const std::string& modelled,
                         const std::string& kernel) {
    PrintOut("  {:>4} {:<{}} {}{:>9} {:>10}  {}{}\n", step, name, columns.name,
             columns.output ? fmt::format("{:<22} ", type) : "", flops, bytes,
             // Nothing is said of machines whose steps are not modelled alone.
             all > 0 ? fmt::format("{:>10}  ", modelled) : "", kernel);
  };
  const std::vector<std::string> titles = StepTitles(overview);
  print("step", "name", "output", "FLOP", "bytes", "modelled", "kernel");
  for (size_t i = 0; i < overview.steps.size(); ++i) {
    const StepRow& step = overview.steps[i];
    const std::string type =
        step.outputs.empty() ? "" : overview.buffers[step.outputs[0]].type;
    print(i, runtime::CutFront(runtime::Visible(titles[i]), columns.name), type,
          FlopsText(step.flops), FormatBytes(step.bytes),
          SecondsText(step.modelled_seconds), KernelText(step, columns));
  }
  if (all > 0) PrintOut("  {} modelled, not measured\n", SecondsText(all));
}

Json MemoryToJson(const Overview& overview) {
  Json buffers = Json::array();
  const std::vector<ArenaSharers> sharers = SharersOf(overview);
  for (size_t i = 0; i < overview.buffers.size(); ++i) {
    const BufferRow& b = overview.buffers[i];
    Json row = {{"name", b.name},     {"type", b.type},
                {"kind", b.kind},     {"offset", b.offset},
                {"bytes", b.bytes},   {"first_step", b.first},
                {"last_step", b.last}};
    if (b.kind == "input") row["used"] = b.read;
    if (!b.open.empty()) row["open_axis"] = b.open.front().first;
    for (const auto& [axis, length] : b.open) {
      if (length.empty() && b.open.size() == 1) continue;
      row["open_axes"].push_back({{"axis", axis}, {"length", length}});
    }
    if (b.on_host) row["place"] = "host";
    if (!b.layout.empty()) row["layout"] = b.layout;
    if (b.kind == "alias") row["alias_of"] = overview.buffers[b.root].name;
    if (b.in_arena()) {
      row["shares_bytes_with"] = NamesOf(overview, sharers[i].buffers);
      if (sharers[i].more > 0) row["more_sharers"] = sharers[i].more;
    }
    buffers.push_back(row);
  }
  Json memory = {{"entry", overview.entry},
                 {"activation_bytes", overview.memory.activations()},
                 {"workspace_bytes", overview.memory.workspace},
                 {"peak_bytes", overview.memory.peak()},
                 {"lower_bound_bytes", overview.memory.lower_bound()},
                 {"naive_bytes", overview.memory.naive()},
                 {"arena_bytes", overview.memory.arena},
                 {"output_bytes", overview.memory.outputs},
                 {"state_bytes", overview.state_bytes()},
                 {"prepared_bytes", overview.BytesOf("prepared")},
                 {"buffers", buffers}};
  const double modelled = overview.modelled_seconds();
  if (modelled > 0) memory["modelled_seconds"] = modelled;
  const int64_t host = overview.memory.host_arena;
  if (host > 0) memory["host_arena_bytes"] = host;
  return memory;
}

Json StepsToJson(const Overview& overview) {
  const bool modelled = overview.modelled_seconds() > 0;
  Json steps = Json::array();
  for (const StepRow& step : overview.steps) {
    Json inputs = Json::array(), outputs = Json::array();
    for (const int b : step.inputs) inputs.push_back(overview.buffers[b].name);
    for (const int b : step.outputs)
      outputs.push_back(overview.buffers[b].name);
    Json row = {{"name", step.name},
                {"kernel", step.kernel},
                {"inputs", inputs},
                {"outputs", outputs},
                {"flops", step.flops},
                {"bytes", step.bytes},
                {"scratch_bytes", step.scratch}};
    if (step.tasks > 0) row["tasks"] = step.tasks;
    if (modelled) {
      row["modelled_seconds"] = step.modelled_seconds;
    }
    if (step.block_threads > 0) {
      row["launch"] = {{"blocks", step.blocks},
                       {"threads", step.block_threads},
                       {"shared_bytes", step.shared_bytes}};
    }
    steps.push_back(row);
  }
  return steps;
}

}  // namespace mxc
