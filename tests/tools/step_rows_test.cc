// SPDX-License-Identifier: Apache-2.0
// A plan and its artifact say the same of steps: their kinds, their algorithms,
// and the times by which they were planned.
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/artifact/manifest.h"
#include "tests/support/temporary_folder.h"
#include "tools/artifact_overview.h"
#include "tools/diagram/step_names.h"
#include "tools/driver/compile.h"

namespace mxc {
namespace {

using Kind = StepRow::Kind;

// With a view, maxima, and updates that a device is told at once.
const char* const kTwoLayers =
    R"json({"mxc": 1, "inputs": {"data": ["N", 16, 24, 24]},
  "nodes": [
    {"op": "Convolution", "name": "c1", "kernel": [3, 3], "pad": [1, 1],
     "num_filter": 32},
    {"op": "BatchNorm", "name": "b1"},
    {"op": "Activation", "name": "r1", "act_type": "relu"},
    {"op": "Pooling", "name": "p1", "pool_type": "max", "kernel": [3, 3],
     "stride": [2, 2]},
    {"op": "Flatten", "name": "f"},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"}]})json";

struct Said {
  Overview planned, written;
};

std::vector<Said> OverviewsFor(const char* target, int replicas = 1) {
  const test::TemporaryFolder folder("step_rows");
  CompileRequest request;
  request.network.model = folder.File("net.json");
  test::WriteText(request.network.model, kTwoLayers);
  request.network.init = "xavier";
  request.target = target;
  request.entries = {"train", "score"};
  request.batches = {4};
  request.training.replicas = replicas;
  Progress silent;
  const Result<Artifact> compiled = Compile(request, silent);
  REQUIRE_MESSAGE(compiled.ok(), Render(compiled.errors()));
  const Plan& plan = compiled->plan;
  const std::string path = folder.File("net.mxa");
  REQUIRE(Save(request, *compiled, path).ok());
  const Result<InspectedArtifact> artifact = ReadArtifact(path);
  REQUIRE(artifact.ok());
  std::vector<Said> said;
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    said.push_back({MakeOverview(plan.programs[i], plan.target, *plan.catalog),
                    artifact->entries.at(i)});
  }
  return said;
}

int64_t CountOf(const Overview& overview, Kind kind) {
  return std::ranges::count(overview.steps, kind, &StepRow::kind);
}

}  // namespace

TEST_CASE("a plan and its artifact say the same of each step") {
  for (const char* target : {"x86-64-v3", "cuda:sm_80"}) {
    for (const auto& [planned, written] : OverviewsFor(target)) {
      CAPTURE(target);
      CAPTURE(planned.entry);
      REQUIRE(planned.steps.size() == written.steps.size());
      for (size_t s = 0; s < planned.steps.size(); ++s) {
        const StepRow &one = planned.steps[s], &other = written.steps[s];
        CAPTURE(one.name);
        CHECK(one.kind == other.kind);
        CHECK(one.algorithm == other.algorithm);
        CHECK(one.modelled_seconds ==
              doctest::Approx(other.modelled_seconds).epsilon(1e-3));
      }
      CHECK(CountOf(written, Kind::kContraction) >= 1);
      CHECK(CountOf(written, Kind::kLoops) >= 1);
      // Times of a host are for the runtime alone.
      CHECK((written.modelled_seconds() > 0) ==
            (std::string_view(target) != "x86-64-v3"));
    }
  }
}

TEST_CASE("a collective is drawn as a step that runs") {
  int64_t collectives = 0;
  for (const auto& [planned, written] : OverviewsFor("cuda:sm_80", 2)) {
    for (size_t s = 0; s < planned.steps.size(); ++s) {
      if (planned.steps[s].algorithm != "all_reduce") continue;
      ++collectives;
      CHECK(planned.steps[s].kind == Kind::kCall);
      CHECK(written.steps.at(s).kind == Kind::kCall);
      CHECK(KindOf(written.steps[s]) == DiagramBox::Kind::kLoops);
    }
  }
  CHECK(collectives > 0);
}

// The kinds of its parts tell, not the words of its kernel's name.
TEST_CASE("what a device is told at once is drawn as what is in it") {
  int launches = 0;
  for (const auto& [planned, written] : OverviewsFor("cuda:sm_80")) {
    for (const StepRow& step : written.steps) {
      if (!step.algorithm.ends_with(" at once")) continue;
      ++launches;
      const bool contracts = step.kind == Kind::kContraction;
      CAPTURE(step.name);
      CHECK(KindOf(step) == (contracts ? DiagramBox::Kind::kContraction
                                       : DiagramBox::Kind::kLoops));
      // Contractions of this network that are not alone compute gradients.
      CHECK((!contracts || written.entry == "train"));
    }
  }
  CHECK(launches > 0);
}

TEST_CASE("numbers of rows are read from any text") {
  using Rows = std::vector<bool>;
  CHECK(runtime::RowsOf("0 3 4", 5) == Rows{true, false, false, true, true});
  CHECK(runtime::RowsOf("", 2) == Rows{false, false});
  CHECK(runtime::RowsOf("2 5 -1 99999999999999999999 x1", 3) ==
        Rows{false, true, true});
}

}  // namespace mxc
