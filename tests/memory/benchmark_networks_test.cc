// SPDX-License-Identifier: Apache-2.0
// What inference and training of the benchmark networks need in memory, against
// the lower bound and against what MXNet 1.9.1 plans.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "ir/program/memory.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "passes/step_readers.h"
#include "tests/support/archive.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

struct Row {
  std::string network;
  Extents input;
  int64_t mxnet_mib = 0;
};

// The rows of mxnet-memory.tsv for one mode with default settings.
std::vector<Row> ReadRows(const std::string& path, std::string_view wanted) {
  std::vector<Row> rows;
  std::istringstream text(ReadText(path));
  std::string line;
  while (std::getline(text, line)) {
    std::istringstream fields(line);
    std::string network, input, mode, setting;
    Row row;
    fields >> row.network >> input >> mode >> setting >> row.mxnet_mib;
    if (mode != wanted || setting != "default") continue;
    std::istringstream extents(input);
    for (std::string n; std::getline(extents, n, 'x');) {
      row.input.push_back(std::stoll(n));
    }
    rows.push_back(row);
  }
  return rows;
}

// Zeros of any type, all in the same pages.
Tensor Zeros(const TensorType& type) {
  static std::shared_ptr<void> pages;
  static int64_t size = 0;
  if (type.bytes() > size) {
    size = std::max<int64_t>(type.bytes(), 512 << 20);
    pages = std::shared_ptr<void>(std::calloc(1, size), std::free);
  }
  return Tensor(type, pages, static_cast<const std::byte*>(pages.get()));
}

Model LoadRow(const std::string& json, const Row& row) {
  auto source = std::make_shared<SourceFile>();
  source->path = row.network;
  source->text = json;
  LoadOptions load;
  load.input_shapes["data"] = row.input;
  auto model = LoadText(source, load);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return std::move(*model);
}

Program PlanGraph(Graph graph, const Target& target,
                  const TrainingOptions* training) {
  const auto catalog =
      MakeKernelCatalog(target, {.constant_weights = training == nullptr});
  auto program =
      RunPipeline(std::move(graph), {&target, catalog.get(), training}, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

Program PlanInference(const std::string& json, const Row& row,
                      const Target& target) {
  Model model = LoadRow(json, row);
  const auto typed = InferTypes(model.graph, /*complete=*/true);
  REQUIRE_MESSAGE(typed.ok(), Render(typed.errors()));
  for (const Node* node : MissingParameters(model)) {
    model.parameters[node->name] = Zeros(node->types[0]);
  }
  BindParameters(model);
  return PlanGraph(std::move(model.graph), target, nullptr);
}

Program PlanTraining(const std::string& json, const Row& row,
                     const Target& target,
                     std::optional<int64_t> budget = std::nullopt) {
  Model model = LoadRow(json, row);
  model.graph.training = true;
  model.graph.stateful = true;
  TrainingOptions training;
  training.memory_budget = budget;
  return PlanGraph(std::move(model.graph), target, &training);
}

// The networks that MXNet planned, each with its symbol; none, and a word of
// it, where there is no shared folder.
class Networks {
 public:
  explicit Networks(const std::string& mode) {
    const std::string shared = SharedFolder();
    auto archive = ReadArchive(shared + "/cases/symbols.tar.gz");
    if (archive) {
      symbols_ = std::move(*archive);
      rows = ReadRows(shared + "/reference/mxnet-memory.tsv", mode);
    }
    if (rows.empty()) MESSAGE("skipped: no shared cases");
  }

  const std::string& Symbol(const Row& row) const {
    const auto file =
        symbols_.find("symbols_generated/" + row.network + "-symbol.json");
    REQUIRE(file != symbols_.end());
    return file->second;
  }

  std::vector<Row> rows;

 private:
  std::map<std::string, std::string> symbols_;
};

// By buffer: read, and by no other steps than those that update states.
std::vector<bool> Gradients(const Program& program) {
  std::vector<bool> read(program.buffers.size(), false), other = read;
  for (const Step& step : program.steps) {
    const bool update = UpdatesState(program, step);
    for (const int b : step.inputs) {
      const int root = program.Root(b);
      read[root] = true;
      if (!update && !step.view) other[root] = true;
    }
  }
  for (size_t b = 0; b < read.size(); ++b) read[b] = read[b] && !other[b];
  return read;
}

int64_t MostLiveBytes(const Program& program,
                      const std::vector<bool>& without) {
  std::vector<int64_t> live(program.steps.size(), 0);
  const std::vector<LiveRange> ranges = LiveRanges(program);
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first < 0 || without[i]) continue;
    for (int s = ranges[i].first; s <= ranges[i].last; ++s) {
      live[s] += program.buffers[i].bytes();
    }
  }
  return live.empty() ? 0 : std::ranges::max(live);
}

// Activations at the worst step without the gradients of parameters, which
// MXNet's figures leave out: what only steps that update states read.
int64_t BytesBesideGradients(const Program& program) {
  return MostLiveBytes(program, Gradients(program)) + OutputBytes(program);
}

TEST_CASE("inference of the benchmark networks stays near the lower bound" *
          doctest::test_suite("shared")) {
  const Networks networks("infer");
  if (networks.rows.empty()) return;
  constexpr double kMiB = 1 << 20;
  for (const std::string name : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = *ResolveTarget(name);
    for (const Row& row : networks.rows) {
      const Memory memory =
          MemoryOf(PlanInference(networks.Symbol(row), row, target));
      fmt::print(
          "{:10} {:20} batch {:3}  activations {:7.1f} MiB, {:.3f} of "
          "the lower bound, MXNet {}\n",
          name, row.network, row.input[0],
          static_cast<double>(memory.activations()) / kMiB,
          static_cast<double>(memory.peak()) /
              static_cast<double>(memory.lower_bound()),
          row.mxnet_mib);
      CAPTURE(name);
      CAPTURE(row.network);
      CAPTURE(row.input[0]);
      CHECK(static_cast<double>(memory.peak()) <=
            1.02 * static_cast<double>(memory.lower_bound()));
      if (row.mxnet_mib < 10) continue;
      // MXNet prints whole MiB. Winograd's tiles of 6 by 6 make 32 by 32 of the
      // 28 by 28 planes of the CIFAR networks: a border that MXNet does not
      // have.
      const double border = row.network.ends_with("-cifar") ? 1.3 : 1;
      CHECK(static_cast<double>(memory.activations()) <=
            static_cast<double>(row.mxnet_mib) * border * kMiB);
    }
  }
}

int64_t Flops(const Program& program) {
  int64_t flops = 0;
  for (const Step& step : program.steps) {
    if (step.contraction()) flops += step.flops(program);
  }
  return flops;
}

TEST_CASE("training of the benchmark networks stays near the lower bound" *
          doctest::test_suite("shared")) {
  const Networks networks("train");
  if (networks.rows.empty()) return;
  // The largest take a minute together: by name only.
  const char* only = std::getenv("MXC_NETWORK");
  constexpr double kMiB = 1 << 20;
  const Target target = *ResolveTarget("x86-64-v3");
  for (const Row& row : networks.rows) {
    const bool asked = only != nullptr && row.network == only;
    const bool usual = row.input[0] > 1 && row.mxnet_mib < 3000;
    if (only != nullptr ? !asked : !usual) continue;
    const auto start = std::chrono::steady_clock::now();
    const Program program = PlanTraining(networks.Symbol(row), row, target);
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    const Memory memory = MemoryOf(program);
    const int64_t beside_gradients = BytesBesideGradients(program);
    fmt::print(
        "{:20} batch {:3}  {:5} steps {:5.1f} s  activations {:7.1f} MiB, "
        "beside gradients {:7.1f}, {:.3f} of the lower bound, MXNet {}\n",
        row.network, row.input[0], program.steps.size(), seconds.count(),
        static_cast<double>(memory.activations()) / kMiB,
        static_cast<double>(beside_gradients) / kMiB,
        static_cast<double>(memory.peak()) /
            static_cast<double>(memory.lower_bound()),
        row.mxnet_mib);
    CAPTURE(row.network);
    CAPTURE(row.input[0]);
    CHECK(static_cast<double>(memory.peak()) <=
          1.02 * static_cast<double>(memory.lower_bound()));
    if (row.mxnet_mib < 10) continue;
    // Where there are no batch norms, there is less to compute again.
    const bool plain =
        row.network == "alexnet" || row.network.starts_with("vgg-");
    // On small planes, the border of zeros that tiles reach into counts.
    const double part = plain ? 0.9 : row.network == "lenet" ? 0.8 : 0.75;
    CHECK(static_cast<double>(beside_gradients) <=
          part * static_cast<double>(row.mxnet_mib) * kMiB);
  }
}

TEST_CASE("residual networks train in a fifth of what MXNet plans" *
          doctest::test_suite("shared")) {
  const Networks networks("train");
  if (networks.rows.empty()) return;
  const Target target = *ResolveTarget("x86-64-v3");
  for (const Row& row : networks.rows) {
    if (row.network != "resnet-50" || row.input[0] == 1) continue;
    const int64_t budget = row.mxnet_mib * (1 << 20) / 5;
    const Program free = PlanTraining(networks.Symbol(row), row, target);
    const Program program =
        PlanTraining(networks.Symbol(row), row, target, budget);
    CAPTURE(row.network);
    CHECK(MemoryOf(program).activations() <= budget);
    // The forward part is a third of a step: what runs again is less.
    CHECK(static_cast<double>(Flops(program)) <=
          1.3 * static_cast<double>(Flops(free)));
  }
}

}  // namespace
}  // namespace mxc
