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
    const std::shared_ptr<const runtime::Model>& model) {
  auto executor = Executor::Bind(model, 0, {});
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
  CHECK(idle.Take(*other) == nullptr);
  CHECK(idle.Take(*model).get() == same);
  CHECK(idle.Take(*model) == nullptr);
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
  CHECK(idle.Take(*models[0]) == nullptr);
  CHECK(idle.Take(*models[2]) != nullptr);

  IdleExecutors narrow(bytes / 2);
  narrow.Give(Bound(models[0]));
  narrow.Give(Bound(models[1]));
  CHECK(narrow.bytes() == bytes);
  CHECK(narrow.Take(*models[0]) == nullptr);
  CHECK(narrow.Take(*models[1]) != nullptr);
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

}  // namespace mxc::test
