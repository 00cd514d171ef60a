// SPDX-License-Identifier: Apache-2.0
// What a plan, the tables of an artifact and its manifest say about memory is
// one thing.
#include <doctest/doctest.h>

#include "ir/program/memory.h"
#include "runtime/artifact/manifest.h"
#include "tests/support/temporary_folder.h"
#include "tools/artifact_overview.h"
#include "tools/driver/compile.h"

namespace mxc {
namespace {

// With scratch (Winograd), several outputs, and tensors that share bytes.
const char* const kNetwork =
    R"json({"mxc": 1, "inputs": {"data": ["N", 16, 24, 24]},
  "nodes": [
    {"op": "Convolution", "name": "c1", "kernel": [3, 3], "pad": [1, 1],
     "num_filter": 32},
    {"op": "Activation", "name": "r1", "act_type": "relu"},
    {"op": "Convolution", "name": "c2", "kernel": [3, 3], "pad": [1, 1],
     "num_filter": 32},
    {"op": "Flatten", "name": "f"},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"}],
  "outputs": ["softmax", "c2"]})json";

void CheckFigures(CompileRequest request) {
  const test::TemporaryFolder folder("memory_figures");
  request.network.model = folder.File("net.json");
  test::WriteText(request.network.model, kNetwork);
  request.network.init = "xavier";
  request.target = "x86-64-v3";
  Progress silent;
  const Result<Artifact> compiled = Compile(request, silent);
  REQUIRE_MESSAGE(compiled.ok(), Render(compiled.errors()));
  const std::vector<Program>& programs = compiled->plan.programs;
  const std::string path = folder.File("net.mxa");
  REQUIRE(Save(request, *compiled, path).ok());
  const Result<InspectedArtifact> artifact = ReadArtifact(path);
  REQUIRE(artifact.ok());
  const auto lines = [&](const char* key) {
    return runtime::ManifestValues(artifact->manifest, key);
  };
  REQUIRE(artifact->entries.size() == programs.size());
  for (size_t i = 0; i < programs.size(); ++i) {
    CAPTURE(programs[i].entry.Name());
    const Memory planned = MemoryOf(programs[i]);
    const Memory& written = artifact->entries[i].memory;
    CHECK(planned.workspace > 0);
    CHECK(planned.outputs > 0);
    CHECK(written.peak() == planned.peak());
    CHECK(written.lower_bound() == planned.lower_bound());
    CHECK(written.naive() == planned.naive());
    CHECK(written.activations() == planned.activations());
    CHECK(written.workspace == planned.workspace);
    CHECK(lines("peak_bytes").at(i) == std::to_string(written.peak()));
    CHECK(lines("activation_bytes").at(i) ==
          std::to_string(written.activations()));
    CHECK(lines("workspace_bytes").at(i) == std::to_string(written.workspace));
    const Json shown = MemoryToJson(artifact->entries[i]);
    CHECK(shown["peak_bytes"] == planned.peak());
    CHECK(shown["activation_bytes"] == planned.activations());
  }
}

TEST_CASE("plan, artifact and manifest agree about memory") {
  CompileRequest inference;
  inference.batches = {1, 8};
  CheckFigures(inference);
}

TEST_CASE("plan, artifact and manifest agree about memory of training") {
  CompileRequest training;
  training.entries = {"train", "score"};
  training.batches = {4};
  CheckFigures(training);
}

}  // namespace
}  // namespace mxc
