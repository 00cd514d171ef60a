// SPDX-License-Identifier: Apache-2.0
// Executors that nobody runs keep no more memory than they may.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/ndarray/idle_executors.h"
#include "tests/ndarray/saved_artifact.h"

namespace mxc::test {
namespace {

using runtime::Executor;
using runtime::IdleExecutors;

// Between its layers lie 4,000 bytes and more.
std::shared_ptr<const runtime::Model> CompiledModel() {
  CompileRequest request;
  request.network.init = "xavier";
  request.batches = {1};
  const runtime::NamelessFile file = SavedArtifact(
      request, R"({"mxc": 1, "inputs": {"data": ["N", 5]}, "nodes": [
        {"op": "FullyConnected", "name": "fc1", "num_hidden": 1000},
        {"op": "FullyConnected", "name": "fc2", "num_hidden": 3}]})");
  auto model = runtime::Model::Open(file.path(), {});
  REQUIRE(model.ok());
  return *model;
}

std::unique_ptr<Executor> Bound(
    const std::shared_ptr<const runtime::Model>& model,
    const IdleExecutors::Arena& arena = nullptr) {
  Executor::Options options;
  options.arena = arena;
  auto executor = Executor::Bind(model, 0, options);
  REQUIRE(executor.ok());
  return std::move(*executor);
}

}  // namespace

TEST_CASE(
    "an executor that was given back is taken again, of its model alone") {
  const auto model = CompiledModel(), other = CompiledModel();
  IdleExecutors idle(1 << 30);
  auto executor = Bound(model);
  const Executor* const same = executor.get();
  idle.Give(std::move(executor));
  CHECK(idle.Take(*other, nullptr) == nullptr);
  CHECK(idle.Take(*model, nullptr).get() == same);
  CHECK(idle.Take(*model, nullptr) == nullptr);
  CHECK(idle.bytes() == 0);
}

TEST_CASE("what was used longest ago goes where memory ends") {
  const std::vector models = {CompiledModel(), CompiledModel(),
                              CompiledModel()};
  const uint64_t bytes = runtime::OwnBytes(*Bound(models[0]));
  REQUIRE(bytes >= 4000);
  IdleExecutors idle(2 * bytes);
  for (const auto& model : models) idle.Give(Bound(model));
  CHECK(idle.bytes() == 2 * bytes);
  CHECK(idle.Take(*models[0], nullptr) == nullptr);
  CHECK(idle.Take(*models[2], nullptr) != nullptr);

  IdleExecutors narrow(bytes / 2);
  narrow.Give(Bound(models[0]));
  narrow.Give(Bound(models[1]));
  CHECK(narrow.bytes() == bytes);
  CHECK(narrow.Take(*models[0], nullptr) == nullptr);
  CHECK(narrow.Take(*models[1], nullptr) != nullptr);
}

TEST_CASE("a model that ends leaves nothing") {
  const auto model = CompiledModel();
  IdleExecutors idle(1 << 30);
  idle.Give(Bound(model));
  idle.Give(Bound(model));
  CHECK(idle.bytes() == 2 * runtime::OwnBytes(*Bound(model)));
  idle.Forget(*model);
  CHECK(idle.bytes() == 0);
}

TEST_CASE("programs have one arena, one after the other") {
  const std::vector models = {CompiledModel(), CompiledModel()};
  const uint64_t bytes = Bound(models[0])->entry().arena_bytes;
  IdleExecutors idle(1 << 30);
  const void* where = nullptr;
  for (int round = 0; round < 2; ++round) {
    for (const auto& model : models) {
      const IdleExecutors::ArenaLoan loan(idle, bytes);
      REQUIRE(loan.arena() != nullptr);
      if (where == nullptr) where = loan.arena()->data();
      CHECK(loan.arena()->data() == where);
      // Nobody else has it meanwhile.
      CHECK(IdleExecutors::ArenaLoan(idle, bytes).arena() == nullptr);
      auto executor = idle.Take(*model, loan.arena());
      CHECK((executor != nullptr) == (round == 1));
      if (executor == nullptr) executor = Bound(model, loan.arena());
      const std::vector<float> data = {1, 2, 3, 4, 5};
      executor->BindInput(0, data.data());
      CHECK(executor->Run().ok());
      idle.Give(std::move(executor));
    }
  }
  // What is idle in memory that has become too small is forgotten.
  const IdleExecutors::ArenaLoan loan(idle, 2 * bytes);
  CHECK(loan.arena()->size() >= 2 * bytes);
  CHECK(idle.bytes() == 0);
}

TEST_CASE("an arena of a program larger than may be kept goes with it") {
  IdleExecutors idle(1 << 20);
  const auto size = [&](uint64_t bytes) {
    return IdleExecutors::ArenaLoan(idle, bytes).arena()->size();
  };
  CHECK(size(1 << 19) >= 1 << 19);
  CHECK(size(1 << 24) >= 1 << 24);
  CHECK(size((1 << 24) - 1) >= 1 << 24);
  CHECK(size(1 << 12) < 1 << 20);
}

}  // namespace mxc::test
