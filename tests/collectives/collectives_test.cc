// SPDX-License-Identifier: Apache-2.0
// Steps that several devices do together, compiled and run on emulated GPUs:
// what each has then is what the mathematics say. The driver and NCCL are those
// of tests/cuda/driver (see the environment in tests/CMakeLists.txt).
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "codegen/codegen.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "runtime/device/device.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"
#include "tests/collectives/rotate.h"

namespace mxc {
namespace {

using Floats = std::vector<float>;
using Models = std::shared_ptr<const runtime::Model>;

constexpr int64_t kRows = 12, kColumns = 5;  // of what each device brings

// y = collective(2 x) + 1
std::string NetworkOf(const std::string& operation, int64_t members,
                      int64_t rows) {
  return fmt::format(R"(
graph @net {{
  %0 "x" = input f32[{0}, {3}]
  %1 "twice" = _mul_scalar(%0) {{scalar = "2"}} : f32[{0}, {3}]
  %2 "shared" = _collective(%1) {{num_args = "1", operation = "{1}", members = "{2}"}} : f32[{4}, {3}]
  %3 "y" = _plus_scalar(%2) {{scalar = "1"}} : f32[{4}, {3}]
  return %3 "y_output"
}}
)",
                     kRows, operation, members, kColumns, rows);
}

Models Compiled(const std::string& network, const char* target_name) {
  const auto target = ResolveTarget(target_name);
  REQUIRE(target.ok());
  auto graph =
      ParseGraph(std::make_shared<SourceFile>(SourceFile{"network", network}));
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  const auto catalog = MakeKernelCatalog(*target);
  const auto program =
      RunPipeline(std::move(*graph), {&*target, catalog.get()}, PassOptions{});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  const std::string path =
      fmt::format("{}/mxc-collectives-{}.mxa",
                  std::filesystem::temp_directory_path().string(), getpid());
  const Program programs[] = {*program};
  REQUIRE(WriteArtifact(path, programs, *target).ok());
  auto model = runtime::Model::Open(path, {});
  std::filesystem::remove(path);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  return *model;
}

// What device `number` brings in run `run`: small integers, whose sums are exact
// in any order.
Floats Brought(size_t number, int run) {
  Floats x(kRows * kColumns);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>((i * 7 + number * 31 + size_t(run) * 5) % 97);
  }
  return x;
}

// Devices that run one model together, each on a thread of its own.
class Group {
 public:
  Group(const Models& model, size_t count) {
    std::vector<const runtime::Device*> devices;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("cuda:{}", i);
      const auto device = runtime::FindDevice(name.c_str());
      REQUIRE(device.ok());
      devices.push_back(*device);
      runtime::Executor::Options options;
      options.device = name.c_str();
      auto executor = runtime::Executor::Bind(model, 0, options);
      REQUIRE_MESSAGE(executor.ok(), executor.status().message());
      executors_.push_back(std::move(*executor));
    }
    auto group = devices[0]->OpenGroup(devices);
    REQUIRE_MESSAGE(group.ok(), group.status().message());
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(executors_[i]->Join(*group, i).ok());
    }
  }

  // What each device has then; of a run that fails, nothing.
  std::vector<Floats> Run(int run) {
    std::vector<Floats> found(executors_.size());
    std::vector<std::jthread> threads;
    messages.assign(executors_.size(), "");
    for (size_t i = 0; i < executors_.size(); ++i) {
      threads.emplace_back([this, run, i, &found] {
        runtime::Executor& executor = *executors_[i];
        const Floats x = Brought(i, run);
        std::memcpy(executor.InputStorage(0), x.data(),
                    x.size() * sizeof(float));
        const runtime::Status status = executor.Run();
        messages[i] = status.message();
        if (!status.ok()) return;
        const auto& entry = executor.entry();
        const uint32_t output = executor.model().tables().Outputs(entry)[0];
        found[i].resize(executor.buffers()[output].bytes / sizeof(float));
        std::memcpy(found[i].data(), executor.OutputStorage(0),
                    found[i].size() * sizeof(float));
      });
    }
    threads.clear();
    return found;
  }

  std::vector<std::string> messages;  // of the last run

 private:
  std::vector<std::unique_ptr<runtime::Executor>> executors_;
};

Floats Affine(Floats values) {
  for (float& value : values) value = 2 * value + 1;
  return values;
}

Floats SumOf(size_t count, int run) {
  Floats sum(kRows * kColumns);
  for (size_t d = 0; d < count; ++d) {
    const Floats x = Brought(d, run);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
  }
  return sum;
}

constexpr int kRuns = 3;

}  // namespace

TEST_CASE("all_reduce: each device has the sums") {
  const Models model =
      Compiled(NetworkOf("all_reduce", 0, kRows), "cuda:emulated");
  for (const size_t count : {2, 3, 4}) {
    Group group(model, count);
    for (int run = 0; run < kRuns; ++run) {
      for (const Floats& y : group.Run(run)) {
        CHECK(y == Affine(SumOf(count, run)));
      }
    }
  }
}

TEST_CASE("reduce_scatter: each device has its part of the sums") {
  for (const size_t count : {2, 3, 4}) {
    const auto members = static_cast<int64_t>(count);
    const Models model = Compiled(
        NetworkOf("reduce_scatter", members, kRows / members), "cuda:emulated");
    Group group(model, count);
    for (int run = 0; run < kRuns; ++run) {
      Floats all;
      for (const Floats& y : group.Run(run)) {
        CHECK(y.size() == kRows * kColumns / count);
        all.insert(all.end(), y.begin(), y.end());
      }
      CHECK(all == Affine(SumOf(count, run)));
    }
  }
}

TEST_CASE("all_gather: each device has what all brought, in their order") {
  for (const size_t count : {2, 3, 4}) {
    const auto members = static_cast<int64_t>(count);
    const Models model = Compiled(
        NetworkOf("all_gather", members, kRows * members), "cuda:emulated");
    Group group(model, count);
    for (int run = 0; run < kRuns; ++run) {
      Floats all;
      for (size_t d = 0; d < count; ++d) {
        const Floats x = Brought(d, run);
        all.insert(all.end(), x.begin(), x.end());
      }
      for (const Floats& y : group.Run(run)) CHECK(y == Affine(all));
    }
  }
}

TEST_CASE("a collective of one file and one line is compiled and run") {
  static const bool added = [] {
    runtime::AddCollective({"rotate", CollectiveGives::kSame, false},
                           &runtime::Rotate);
    return true;
  }();
  REQUIRE(added);
  const Models model = Compiled(NetworkOf("rotate", 0, kRows), "cuda:emulated");
  for (const size_t count : {1, 2, 4}) {
    Group group(model, count);
    for (int run = 0; run < kRuns; ++run) {
      const std::vector<Floats> found = group.Run(run);
      for (size_t d = 0; d < count; ++d) {
        CHECK(found[d] == Affine(Brought((d + count - 1) % count, run)));
      }
    }
  }
}

TEST_CASE("a step for two devices is run by two and no other number") {
  const Models model =
      Compiled(NetworkOf("all_gather", 2, 2 * kRows), "cuda:emulated");
  for (const size_t count : {1, 3}) {
    Group group(model, count);
    group.Run(0);
    for (const std::string& message : group.messages) {
      CHECK(message == fmt::format("step 'shared' is for 2 devices together, "
                                   "and {} run it",
                                   count));
    }
  }
}

TEST_CASE("on the host, which is alone, each tensor stays what it is") {
  const Models model = Compiled(NetworkOf("all_reduce", 0, kRows), "x86-64-v2");
  auto executor = runtime::Executor::Bind(model, 0, {});
  REQUIRE(executor.ok());
  const Floats x = Brought(1, 1);
  std::memcpy((*executor)->InputStorage(0), x.data(), x.size() * sizeof(float));
  REQUIRE((*executor)->Run().ok());
  Floats y(x.size());
  std::memcpy(y.data(), (*executor)->OutputStorage(0),
              y.size() * sizeof(float));
  CHECK(y == Affine(x));
}

TEST_CASE("what is no collective is refused when it is compiled") {
  const auto complaint = [](const std::string& operation, int64_t members,
                            int64_t rows) {
    auto graph = ParseGraph(std::make_shared<SourceFile>(
        SourceFile{"network", NetworkOf(operation, members, rows)}));
    if (!graph.ok()) return Render(graph.errors());
    const auto target = ResolveTarget("cuda:emulated");
    const auto catalog = MakeKernelCatalog(*target);
    const auto program = RunPipeline(std::move(*graph),
                                     {&*target, catalog.get()}, PassOptions{});
    return program.ok() ? "" : Render(program.errors());
  };
  CHECK(complaint("all_sort", 2, kRows)
            .find("collective 'all_sort' is unknown") != std::string::npos);
  CHECK(complaint("all_gather", 0, kRows).find("is for no number of devices") !=
        std::string::npos);
  CHECK(complaint("reduce_scatter", 5, kRows)
            .find("12 rows are no 5 equal parts") != std::string::npos);
}

}  // namespace mxc
