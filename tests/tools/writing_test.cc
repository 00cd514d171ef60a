// SPDX-License-Identifier: Apache-2.0
// Networks that write texts: what they say of each token, with the keys and
// values of the tokens before kept, is what the whole network says of the text.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/memory.h"
#include "runtime/artifact/manifest.h"
#include "runtime/mxc.hpp"
#include "tests/support/levels.h"
#include "tests/support/temporary_folder.h"
#include "tools/artifact_overview.h"
#include "tools/driver/compile.h"

namespace mxc {
namespace {

constexpr int64_t kBound = 12, kStreams = 3, kPrefill = 4;
constexpr int64_t kTokens = 17;

// GPT-2 with two layers of two heads, for texts of so many tokens.
std::string SmallGpt2(int64_t bound = kBound) {
  std::string text = test::TextOf(MXC_SOURCE_DIR "/models/gpt2-small.json");
  const auto replace = [&](std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    REQUIRE(at != text.npos);
    text.replace(at, from.size(), to);
  };
  replace(R"("layers": 12, "heads": 12, "size": 768)",
          R"("layers": 2, "heads": 2, "size": 12)");
  replace(R"("tokens": 50257, "places": 1024)",
          R"("tokens": 17, "places": )" + std::to_string(bound));
  return text;
}

// One head, whose keys lie row behind row; where tokens stand is told by how far
// they are from each other, which is added to the scores.
const char* const kOneHead = R"json({"mxc": 1,
  "inputs": {"data": ["N", "T"]},
  "defaults": {"FullyConnected": {"flatten": false, "num_hidden": 6},
               "cache": {"bound": 12}},
  "nodes": [
    {"op": "Embedding", "name": "embed", "input_dim": 17, "output_dim": 6},
    {"op": "positions", "name": "positions"},
    {"op": "Reshape", "name": "row", "shape": [0, -1, 1]},
    {"op": "FullyConnected", "name": "key", "inputs": ["embed"]},
    {"op": "cache", "name": "keys"},
    {"op": "_contrib_arange_like", "name": "places", "axis": 1},
    {"op": "Reshape", "name": "column", "shape": [1, 1, -1]},
    {"op": "broadcast_sub", "name": "distance", "inputs": ["row", "column"]},
    {"op": "FullyConnected", "name": "query", "inputs": ["embed"]},
    {"op": "batch_dot", "name": "scores", "transpose_b": true,
     "inputs": [[], "keys"]},
    {"op": "broadcast_sub", "name": "near", "inputs": [[],
      [{"op": "_mul_scalar", "scalar": 0.25, "inputs": ["distance"]}]]},
    {"op": "broadcast_add", "name": "masked", "inputs": [[],
      [{"op": "_lesser_scalar", "name": "later", "scalar": 0,
        "inputs": ["distance"]},
       {"op": "_mul_scalar", "name": "hidden", "scalar": -1e9}]]},
    {"op": "softmax", "name": "shares"},
    {"op": "batch_dot", "name": "context", "inputs": [[],
      [{"op": "FullyConnected", "name": "value", "inputs": ["embed"]},
       {"op": "cache", "name": "values"}]]},
    {"op": "Activation", "name": "tanh", "act_type": "tanh"},
    {"op": "FullyConnected", "name": "decode", "num_hidden": 17}
  ]})json";

CompileRequest RequestFor(const std::string& model) {
  CompileRequest request;
  request.network.model = model;
  request.network.init = "uniform:0.4";
  request.target = test::RunnableTarget("x86-64-v3")->name;
  request.golden = Golden::kOff;
  return request;
}

using Tokens = std::vector<float>;

Tokens DrawnTokens(size_t count, int seed) {
  Tokens tokens;
  for (size_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<float>((static_cast<int>(i * i) * 7 + seed) %
                                        static_cast<int>(kTokens)));
  }
  return tokens;
}

// What the network as it is in its file says of every token of a text.
std::vector<float> WholeNetwork(const std::string& model, const Tokens& text) {
  CompileRequest request = RequestFor(model);
  request.level = 0;
  const Shape shape = {1, static_cast<int64_t>(text.size())};
  request.input_shapes["data"] = shape.dims();
  Progress silent;
  const Result<Plan> plan = MakePlan(request, silent);
  REQUIRE_MESSAGE(plan.ok(), Render(plan.errors()));
  // Without passes the label is read, though nothing follows from it.
  const Tensor rows = Tensor::FromFloats(shape, text);
  const auto outputs = Interpret(plan->programs.front(),
                                 {{"data", rows}, {"softmax_label", rows}});
  REQUIRE_MESSAGE(outputs.ok(), Render(outputs.errors()));
  const std::span<const float> values = outputs->front().floats();
  return {values.begin(), values.end()};
}

struct Text {
  size_t stream;
  int begins;   // the step with which it is there
  size_t read;  // tokens that are prefilled
  Tokens tokens;
};

// Runs an artifact and compares.
class Writer {
 public:
  Writer(const std::string& model, const api::Model& artifact)
      : model_(model),
        decode_(Bind(artifact, "decode", nullptr)),
        prefill_(Bind(artifact, "prefill", &decode_)) {}

  void Write(const std::vector<Text>& texts) {
    std::vector<std::vector<float>> expected;
    for (const Text& text : texts) {
      expected.push_back(WholeNetwork(model_, text.tokens));
    }
    std::vector<size_t> written(texts.size());
    for (int step = 0;; ++step) {
      std::vector<std::optional<size_t>> which(kStreams);
      bool done = true;
      for (size_t t = 0; t < texts.size(); ++t) {
        if (written[t] == texts[t].tokens.size()) continue;
        done = false;
        if (texts[t].begins > step) continue;
        if (written[t] == 0) {
          Prefill(texts[t], expected[t]);
          written[t] = texts[t].read;
        }
        REQUIRE(!which[texts[t].stream]);
        which[texts[t].stream] = t;
      }
      if (done) return;
      Decode(texts, expected, which, written);
    }
  }

 private:
  static api::Executor Bind(const api::Model& artifact, const char* entry,
                            const api::Executor* share) {
    mxc_bind_options options = MXC_BIND_OPTIONS;
    options.entry = entry;
    options.threads = 2;
    options.share = share != nullptr ? share->handle() : nullptr;
    return api::Executor(artifact, options);
  }

  void Prefill(const Text& text, const std::vector<float>& expected) {
    for (size_t first = 0; first < text.read; first += kPrefill) {
      std::vector<float> rows(kPrefill);  // those behind the text are any
      const size_t count = std::min<size_t>(kPrefill, text.read - first);
      std::copy_n(text.tokens.begin() + static_cast<long>(first), count,
                  rows.begin());
      Set(prefill_, "data", rows);
      Set(prefill_, "position",
          std::vector<int32_t>{static_cast<int32_t>(first)});
      Set(prefill_, "stream",
          std::vector<int32_t>{static_cast<int32_t>(text.stream)});
      prefill_.Run();
      Compare(prefill_, 0, count, expected, first);
    }
  }

  void Decode(const std::vector<Text>& texts,
              const std::vector<std::vector<float>>& expected,
              const std::vector<std::optional<size_t>>& which,
              std::vector<size_t>& written) {
    std::vector<float> tokens(kStreams);
    std::vector<int32_t> positions(kStreams, -1);
    for (size_t s = 0; s < kStreams; ++s) {
      if (!which[s]) continue;
      tokens[s] = texts[*which[s]].tokens[written[*which[s]]];
      positions[s] = static_cast<int32_t>(written[*which[s]]);
    }
    Set(decode_, "data", tokens);
    Set(decode_, "position", positions);
    decode_.Run();
    for (size_t s = 0; s < kStreams; ++s) {
      if (!which[s]) continue;
      Compare(decode_, s, 1, expected[*which[s]], written[*which[s]]);
      ++written[*which[s]];
    }
  }

  template <class T>
  static void Set(api::Executor& executor, const char* input,
                  const std::vector<T>& values) {
    executor.SetInput(input, std::span(values));
  }

  // Rows of the output, from `row` on, with those of the text from `first` on.
  static void Compare(const api::Executor& executor, size_t row, size_t count,
                      const std::vector<float>& expected, size_t first) {
    const auto output = executor.Output<float>(0);
    for (size_t i = 0; i < count * kTokens; ++i) {
      CHECK(output[row * kTokens + i] ==
            doctest::Approx(expected[first * kTokens + i]).epsilon(1e-5));
    }
  }

  const std::string model_;
  api::Executor decode_, prefill_;
};

std::string Written(const test::TemporaryFolder& folder,
                    const CompileRequest& request) {
  Progress silent;
  const Result<Artifact> compiled = Compile(request, silent);
  REQUIRE_MESSAGE(compiled.ok(), Render(compiled.errors()));
  std::string path = folder.File("net.mxa");
  REQUIRE(Save(request, *compiled, path).ok());
  return path;
}

// Texts that begin and end apart: shorter and longer than what is read at once,
// up to the bound, one behind another in the same stream.
std::vector<Text> Texts() {
  return {{0, 0, 0, DrawnTokens(5, 1)},
          {1, 2, 3, DrawnTokens(kBound, 2)},
          {2, 3, 9, DrawnTokens(kBound, 3)},
          {0, 6, 4, DrawnTokens(7, 4)},
          {2, 7, 1, DrawnTokens(4, 5)}};
}

// Bytes of weights in the file, by their offsets: of those whose names begin and
// end so.
std::map<int64_t, int64_t> Weights(const std::string& path,
                                   std::string_view begin,
                                   std::string_view end) {
  const Result<InspectedArtifact> artifact = ReadArtifact(path);
  REQUIRE(artifact.ok());
  std::map<int64_t, int64_t> weights;
  for (const Overview& entry : artifact->entries) {
    for (const BufferRow& buffer : entry.buffers) {
      const bool asked = buffer.kind == "weight" &&
                         buffer.name.starts_with(begin) &&
                         buffer.name.ends_with(end);
      if (asked) weights[buffer.offset] = buffer.bytes;
    }
  }
  return weights;
}

// Of products, as their kernels read them.
std::map<int64_t, int64_t> PackedWeights(const std::string& path) {
  return Weights(path, "", "/packed");
}

std::multiset<int64_t> SizesOf(const std::map<int64_t, int64_t>& weights) {
  std::multiset<int64_t> sizes;
  for (const auto& [offset, bytes] : weights) sizes.insert(bytes);
  return sizes;
}

Diagnostics ErrorsOf(const CompileRequest& request) {
  Progress silent;
  const Result<Plan> plan = MakePlan(request, silent);
  REQUIRE(!plan.ok());
  return plan.errors();
}

}  // namespace

TEST_CASE("token by token a network says what it says of whole texts") {
  const test::TemporaryFolder folder("writing");
  for (const std::string& network : {SmallGpt2(), std::string(kOneHead)}) {
    for (const int level : {1, 2}) {
      CAPTURE(network);
      CAPTURE(level);
      const std::string model = folder.File("net.json");
      test::WriteText(model, network);
      CompileRequest request = RequestFor(model);
      request.level = level;
      request.streams = kStreams;
      request.prefill = kPrefill;
      const api::Model artifact(Written(folder, request));
      Writer(model, artifact).Write(Texts());
    }
  }
}

TEST_CASE("of what is kept as much is read as the longest text has") {
  // From 75, 150 and 300 rows: what texts have passes from one to the other.
  constexpr int64_t kMany = 300;
  const test::TemporaryFolder folder("writing");
  const std::string model = folder.File("net.json");
  test::WriteText(model, SmallGpt2(kMany));
  CompileRequest request = RequestFor(model);
  request.streams = kStreams;
  request.prefill = kPrefill;
  const api::Model artifact(Written(folder, request));
  Writer(model, artifact)
      .Write({{0, 0, 70, DrawnTokens(80, 1)},
              {1, 4, 3, DrawnTokens(30, 2)},
              {2, 12, 145, DrawnTokens(153, 3)},
              {0, 20, 290, DrawnTokens(kMany, 4)},
              {2, 31, 0, DrawnTokens(5, 5)}});
}

TEST_CASE("entries for a token and for many read the same weights") {
  const test::TemporaryFolder folder("writing");
  const std::string model = folder.File("net.json");
  test::WriteText(model, SmallGpt2(40));
  for (const WeightKind kind :
       {WeightKind::kF32, WeightKind::kInt8, WeightKind::kBF16}) {
    CompileRequest request = RequestFor(model);
    request.weights.kind = kind;
    // Both entries have one row.
    request.streams = request.prefill = 1;
    const auto once = PackedWeights(Written(folder, request));
    REQUIRE(!once.empty());
    for (const auto& [streams, prefill] :
         {std::pair(1, 40), std::pair(3, 16), std::pair(8, 30)}) {
      CAPTURE(streams);
      request.streams = streams;
      request.prefill = prefill;
      CHECK(SizesOf(PackedWeights(Written(folder, request))) == SizesOf(once));
    }
  }
}

TEST_CASE("a table that the last layer shares lies once in the file") {
  const test::TemporaryFolder folder("writing");
  const std::string model = folder.File("net.json");
  std::string text = SmallGpt2();
  const std::string words = R"("tokens": 17)";
  text.replace(text.find(words), words.size(), R"("tokens": 1700)");
  test::WriteText(model, text);
  CompileRequest request = RequestFor(model);
  request.streams = kStreams;
  request.prefill = kPrefill;
  CHECK(Weights(Written(folder, request), "embed_weight", "").size() == 1);
}

TEST_CASE("what a network keeps of its texts is bounded, and said") {
  const test::TemporaryFolder folder("writing");
  const std::string model = folder.File("net.json");
  test::WriteText(model, SmallGpt2());
  CompileRequest request = RequestFor(model);
  request.streams = kStreams;
  const std::string path = Written(folder, request);
  const Result<InspectedArtifact> artifact = ReadArtifact(path);
  REQUIRE(artifact.ok());
  REQUIRE(artifact->entries.size() == 2);
  // Keys and values of two layers, for every text up to its bound.
  constexpr int64_t kRow = 12 * sizeof(float);
  for (const Overview& entry : artifact->entries) {
    CHECK(entry.state_bytes() == 2 * 2 * kStreams * kBound * kRow);
  }
  CHECK(runtime::ManifestValues(artifact->manifest, "rows_kept") ==
        std::vector<std::string>{"12"});
  // As many tokens at once as there may be.
  const api::Model opened(path);
  const size_t prefill = opened.FindEntry("prefill", 0);
  CHECK(api::Shape(opened.inputs(prefill)[0])[1] == kBound);
}

TEST_CASE("what cannot be written is refused in a sentence") {
  const test::TemporaryFolder folder("writing");
  const std::string model = folder.File("net.json");
  test::WriteText(model, SmallGpt2());
  CompileRequest request = RequestFor(model);
  request.streams = kStreams;
  request.prefill = kBound + 1;
  CHECK(ErrorsOf(request)[0].message ==
        "13 tokens at once, expected at most the 12 that the network keeps");
  request.prefill = 0;
  request.batches = {2};
  CHECK(ErrorsOf(request)[0].message ==
        "--streams makes the entries decode and prefill; it goes with no "
        "--entry, --batch or --bucket");
  request.batches.clear();
  request.streams = 1 << 17;
  CHECK(ErrorsOf(request)[0].message ==
        "--streams 131072, expected 1 to 65536");
  request.streams = 0;
  request.prefill = 2;
  CHECK(ErrorsOf(request)[0].message ==
        "--prefill is for networks that write texts; --streams says how many");
  test::WriteText(model, R"({"mxc": 1, "inputs": {"data": ["N", 3]},
    "nodes": [{"op": "FullyConnected", "num_hidden": 2}]})");
  request.streams = 2;
  request.prefill = 0;
  CHECK(ErrorsOf(request)[0].message ==
        "--streams is for networks that keep rows of their texts, by the "
        "operator 'cache'; this one has none");
  test::WriteText(model, R"({"mxc": 1,
    "inputs": {"data": ["N", "T"], "position": ["N"]},
    "nodes": [{"op": "cache", "bound": 5, "inputs": ["data"]},
              {"op": "broadcast_add", "inputs": [[],
                [{"op": "expand_dims", "axis": 1, "inputs": ["position"]}]]}]
  })");
  CHECK(ErrorsOf(request)[0].message ==
        "the name 'position' belongs to an input of networks that write texts");
}

}  // namespace mxc
