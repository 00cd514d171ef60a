// SPDX-License-Identifier: Apache-2.0
// mxc-run from outside: reports, exit codes, the worker's protocol.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/formats/npy.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

using Json = nlohmann::json;

struct Outcome {
  std::string out;  // and, where it is asked for, what goes to stderr
  int code = 0;
};

Outcome Call(const std::string& arguments) {
  Outcome outcome;
  FILE* pipe = popen((std::string(MXC_RUN) + " " + arguments).c_str(), "r");
  for (int c; (c = std::fgetc(pipe)) != EOF;) {
    outcome.out += static_cast<char>(c);
  }
  outcome.code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

std::string Model() {
  static const std::string path =
      WriteTemporary("run.mxa", ChainArtifact().File());
  return path;
}

template <class T>
std::string InputFile(const std::string& name, runtime::ElementType type,
                      std::vector<int64_t> shape, const std::vector<T>& v) {
  const std::string path = WriteTemporary(name, "");
  runtime::Array array = *runtime::Array::Allocate(type, std::move(shape));
  std::memcpy(array.bytes().data(), v.data(), array.bytes().size());
  REQUIRE(runtime::WriteNpy(path, array).ok());
  return path;
}

std::string Data() {
  return InputFile("x.npy", runtime::ElementType::kF32, {1, 1024},
                   ChainInput(4));
}

std::vector<float> FloatsOf(const std::string& path) {
  const auto array = runtime::ReadNpy(path);
  REQUIRE(array.ok());
  const auto* values = reinterpret_cast<const float*>(array->bytes().data());
  return {values, values + array->bytes().size() / sizeof(float)};
}

}  // namespace

TEST_CASE("run writes outputs and says what they are") {
  const std::string y = WriteTemporary("y.npy", "");
  const std::string folder = WriteTemporary("outputs", "");
  std::remove(folder.c_str());
  const Outcome outcome = Call("run " + Model() + " --input data=" + Data() +
                               " --output reversed=" + y + " --output-dir " +
                               folder + " --json --threads 2");
  REQUIRE(outcome.code == 0);
  const Json report = Json::parse(outcome.out);
  CHECK(report["outputs"][0]["name"] == "reversed");
  CHECK(report["outputs"][0]["shape"] == Json({1, 1024}));
  CHECK(report["outputs"][1]["dtype"] == "float32");
  CHECK(report["seconds"].get<double>() > 0);
  const ChainResult expected = ChainExpected(ChainInput(4));
  CHECK(FloatsOf(y) == expected.reversed);
  CHECK(FloatsOf(folder + "/output_0.npy") == expected.reversed);
  CHECK(FloatsOf(folder + "/output_1.npy").front() == expected.sum);
}

TEST_CASE("bytes become the input's type") {
  std::vector<uint8_t> bytes;
  for (const float value : ChainInput(4)) {
    bytes.push_back(static_cast<uint8_t>(value));
  }
  // Without the batch axis, too.
  const std::string x =
      InputFile("u8.npy", runtime::ElementType::kU8, {1024}, bytes);
  const std::string y = WriteTemporary("y8.npy", "");
  REQUIRE(Call("run " + Model() + " --input " + x + " --output 0=" + y).code ==
          0);
  CHECK(FloatsOf(y) == ChainExpected(ChainInput(4)).reversed);
}

// The chain with an input that nothing reads.
std::string LabelledModel() {
  TestArtifact artifact = ChainArtifact();
  artifact.entries[0].buffers.push_back({"label", {2}, MXC_BUFFER_INPUT});
  artifact.entries[0].inputs = {0, 7};
  return WriteTemporary("labelled.mxa", artifact.File());
}

TEST_CASE("an input that nothing reads may be given, and is checked") {
  const std::string model = LabelledModel();
  const std::string y = WriteTemporary("yl.npy", "");
  const auto label = [](std::vector<int64_t> shape) {
    const std::vector<float> values(static_cast<size_t>(shape[0]));
    return InputFile("label.npy", runtime::ElementType::kF32, shape, values);
  };
  const std::vector<float> expected = ChainExpected(ChainInput(4)).reversed;
  const std::string run = "run " + model + " --output 0=" + y;
  CHECK(Call(run + " --input " + Data()).code == 0);
  CHECK(FloatsOf(y) == expected);
  CHECK(Call(run + " --input data=" + Data() + " --input label=" + label({2}))
            .code == 0);
  CHECK(FloatsOf(y) == expected);
  const std::string wrong = label({3});
  CHECK(Call(run + " --input data=" + Data() + " --input label=" + wrong +
             " 2>&1")
            .out ==
        "error: input 'label' is float32 (2), but " + wrong + " holds (3)\n");
  CHECK(Call(run + " --input x=" + Data() + " 2>&1").out ==
        "error: no input 'x'; the inputs are 'data' float32 (1, 1024), "
        "'label' float32 (2), not used\n");
  CHECK(Call("bench " + model + " --iterations 2 --input label=" + label({2}) +
             " --input data=" + Data())
            .code == 0);
}

TEST_CASE("an array of another type is converted, which a line says") {
  const std::vector<float> data = ChainInput(4);
  std::vector<double> doubles(data.begin(), data.end());
  const std::string x =
      InputFile("f64.npy", runtime::ElementType::kF64, {1, 1024}, doubles);
  const std::string y = WriteTemporary("y64.npy", "");
  const Outcome outcome = Call("run " + Model() + " --input " + x +
                               " --output 0=" + y + " 2>&1 >/dev/null");
  CHECK(outcome.code == 0);
  CHECK(outcome.out ==
        "note: " + x +
            " holds float64, input 'data' takes float32: converted\n");
  CHECK(FloatsOf(y) == ChainExpected(data).reversed);
}

TEST_CASE("run names the best classes") {
  std::string labels;
  for (int i = 0; i < 1024; ++i) labels += "class " + std::to_string(i) + "\n";
  const std::string file = WriteTemporary("labels", labels);
  const Outcome outcome = Call("run " + Model() + " --input " + Data() +
                               " --top 2 --labels " + file + " --json");
  REQUIRE(outcome.code == 0);
  const Json top = Json::parse(outcome.out)["top"][0];
  REQUIRE(top.size() == 2);
  CHECK(top[0]["value"] >= top[1]["value"]);
  CHECK(top[0]["label"] ==
        "class " + std::to_string(top[0]["index"].get<int>()));
}

TEST_CASE("mistakes: a sentence and exit code 1; bad usage: 2") {
  const std::string x = Data();
  CHECK(Call("run " + Model() + " 2>&1").out ==
        "error: input 'data' float32 (1, 1024) has no --input\n");
  CHECK(Call("run " + Model() + " 2>&1").code == 1);
  const std::string small = InputFile("small.npy", runtime::ElementType::kF32,
                                      {3}, std::vector<float>{1, 2, 3});
  CHECK(Call("run " + Model() + " --input " + small + " 2>&1").out ==
        "error: input 'data' is float32 (1, 1024), but " + small +
            " holds (3)\n");
  const Outcome unknown = Call("run " + Model() + " --input a=" + x +
                               " --input b=" + x + " --json 2>/dev/null");
  CHECK(unknown.code == 1);
  CHECK(Json::parse(unknown.out)["errors"].size() == 2);
  CHECK(Json::parse(unknown.out)["errors"][0]["message"] ==
        "no input 'a'; the inputs are 'data' float32 (1, 1024)");
  CHECK(Call("run /nowhere.mxa 2>&1").out ==
        "error: cannot open '/nowhere.mxa': No such file or directory\n");
  CHECK(Call("run " + Model() + " --device cuda:0 2>&1").out ==
        "error: the model was compiled for device 'cpu' and does not run on "
        "'cuda:0'\n");
  CHECK(Call("run " + Model() + " --device cuda:1 2>&1").out ==
        "error: the model was compiled for device 'cpu' and does not run on "
        "'cuda:1'\n");
  CHECK(Call("run " + Model() + " --device tpu 2>&1").out ==
        "error: device 'tpu' is not supported by this build; there are "
        "'cpu' and 'cuda'\n");
  CHECK(Call("run " + Model() + " --input " + x + " --batch 9 2>&1").out ==
        "error: no entry 'infer' for batch 9; the model has infer (batch 1)\n");
  CHECK(Call("2>/dev/null").code == 2);
  CHECK(Call("run 2>/dev/null").code == 2);
  CHECK(Call("run x.mxa --resize huge 2>/dev/null").code == 2);
  CHECK(Call("bench x.mxa --iterations 0 2>/dev/null").code == 2);
  CHECK(Call("--help >/dev/null").code == 0);
}

TEST_CASE("bench reports latencies and steps") {
  const Outcome outcome = Call(
      "bench " + Model() + " --iterations 50 --warmup 2 --threads 2 --json");
  REQUIRE(outcome.code == 0);
  const Json report = Json::parse(outcome.out);
  const Json latency = report["latency_ns"];
  CHECK(latency["min"] > 0);
  CHECK(latency["p5"] >= latency["min"]);
  CHECK(latency["median"] >= latency["p5"]);
  CHECK(latency["p99"] >= latency["p90"]);
  CHECK(latency["mean"] >= latency["min"]);
  CHECK(report["iterations"] == 50);
  CHECK(report["throughput_per_s"] > 0);
  REQUIRE(report["steps"].size() == 5);
  CHECK(report["steps"][0]["name"] == "scale");
  CHECK(report["steps"][0]["ns"] > 0);
  CHECK(report["steps"][0]["flops"] == 1000000000);
  CHECK(report["steps"][0]["bytes"] == 4096);
  CHECK(report["steps"][0]["bound"] == "compute");
  CHECK(report["steps"][0]["roofline_share"] > 0);
  CHECK(report["roofline"]["gflops"] > 1);
  REQUIRE(report["roofline"]["levels"].size() == 3);

  const Outcome text = Call("bench " + Model() + " --duration 0.05");
  CHECK(text.code == 0);
  CHECK(text.out.find("median") != std::string::npos);
  CHECK(text.out.find("reverse") != std::string::npos);
  const Outcome both =
      Call("bench " + Model() + " --iterations 20 --compare " + Model());
  CHECK(both.out.find("A / B") != std::string::npos);
}

TEST_CASE("bench --worker answers one line for each request") {
  const std::string raw = WriteTemporary("raw", "");
  const std::string requests =
      WriteTemporary("requests", "run 3\noutput " + raw + "\nrun 1\n");
  const Outcome outcome = Call("bench --worker " + Model() + " --input " +
                               Data() + " --threads 2 < " + requests);
  CHECK(outcome.code == 0);
  std::istringstream lines(outcome.out);
  std::string ready, three, ok, one, rest;
  std::getline(lines, ready);
  std::getline(lines, three);
  std::getline(lines, ok);
  std::getline(lines, one);
  CHECK(Json::parse(ready.substr(6))["load_s"] > 0);
  CHECK(ready.substr(0, 6) == "ready ");
  CHECK(std::count(three.begin(), three.end(), ' ') == 2);
  CHECK(std::stoll(one) > 0);
  CHECK(ok == "ok");
  CHECK_FALSE(std::getline(lines, rest));

  std::ifstream file(raw, std::ios::binary);
  std::vector<float> values(1024);
  file.read(reinterpret_cast<char*>(values.data()), 4096);
  CHECK(values == ChainExpected(ChainInput(4)).reversed);
}

}  // namespace mxc::test
