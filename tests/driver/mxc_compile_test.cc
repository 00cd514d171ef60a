// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/mxc_compile.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/mxc.hpp"
#include "tests/support/shared.h"
#include "tests/support/temporary_folder.h"

namespace mxc {
namespace {

constexpr const char* kNetwork = R"json({"mxc": 1,
  "inputs": {"data": [2, 3]},
  "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 2}]})json";

mxc_compile_options Options(const char* network = kNetwork) {
  mxc_compile_options options;
  mxc_compile_options_init(&options, sizeof options);
  options.text = network;
  options.text_size = std::strlen(network);
  options.init = "xavier";
  options.target = "x86-64-v2";
  return options;
}

// The artifact's bytes; empty where there is none.
std::string Compiled(const mxc_compile_options& options) {
  mxc_compilation* compilation = mxc_compile(&options);
  size_t size = 0;
  const void* bytes = mxc_compilation_artifact(compilation, &size);
  std::string text(static_cast<const char*>(bytes), size);
  mxc_compilation_release(compilation);
  return text;
}

std::vector<std::string> MessagesOf(const mxc_compile_options* options) {
  mxc_compilation* compilation = mxc_compile(options);
  std::vector<std::string> messages;
  const size_t count = mxc_compilation_diagnostic_count(compilation);
  for (size_t i = 0; i < count; ++i) {
    messages.push_back(mxc_compilation_diagnostic(compilation, i)->message);
  }
  CHECK(mxc_compilation_diagnostic(compilation, count) == nullptr);
  CHECK(!mxc_compilation_ok(compilation));
  mxc_compilation_release(compilation);
  return messages;
}

// What a program prints; its exit code is 0.
std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(pipe);
  CHECK_MESSAGE(status == 0, command, ": ", text);
  return text;
}

// The lines of the header's example, from its comment.
std::string Example() {
  std::istringstream header(
      ReadText(MXC_SOURCE_DIR "/tools/driver/mxc_compile.h"));
  std::string example;
  for (std::string line; std::getline(header, line);) {
    if (line == " * Conventions") break;
    if (line.starts_with(" *   ")) example += line.substr(3) + "\n";
  }
  return example;
}

}  // namespace

TEST_CASE("a length goes with no buckets") {
  mxc_compile_options options = Options();
  const mxc_compile_bucket bucket = {
      .length = 2, .shapes = nullptr, .shape_count = 0};
  options.length = 4;
  options.buckets = &bucket;
  options.bucket_count = 1;
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{
            "length 4 goes with no buckets; `lengths` names its own"});
}

TEST_CASE("lengths have names of their own, or there is one") {
  const auto refused = [](std::vector<mxc_compile_length> lengths,
                          int64_t length) {
    mxc_compile_options options = Options();
    options.length = length;
    options.named_lengths = lengths.data();
    options.named_length_count = lengths.size();
    return MessagesOf(&options);
  };
  using Messages = std::vector<std::string>;
  CHECK(refused({{"S", 4}}, 4) ==
        Messages{"length 'S' beside one without a name"});
  CHECK(refused({{"S", 4}, {"S", 5}}, 0) ==
        Messages{"length 'S' beside the same again"});
  CHECK(refused({{"S", 0}}, 0) ==
        Messages{"length 'S' up to 0, expected a name and 1 or more"});
  CHECK(refused({{nullptr, 4}}, 0) ==
        Messages{"length '' up to 4, expected a name and 1 or more"});
}

TEST_CASE("mxc_compile: C99 and C++ programs compile a network in memory") {
  const test::TemporaryFolder folder("mxc_compile");
  for (const std::string program : {MXC_TEST_C_COMPILE, MXC_TEST_CXX_COMPILE}) {
    const std::string path = folder.File("net.mxa");
    const std::string said = OutputOf(program + " " + path);
    CHECK(said.find("net.json:2:11: ") != said.npos);
    CHECK(said.find("net.json:3:11: ") != said.npos);
    CHECK(said.find(":0:0: ") != said.npos);  // the target
    CHECK(said.find("phase plan\n") != said.npos);
    const api::Model model(path);
    api::Executor executor(model, {});
    const std::vector<float> x = {1, 10, 100};
    executor.SetInput("data", std::span<const float>(x));
    executor.Run();
    const auto y = executor.Output<float>(0);
    CHECK(y[0] == 321 + 10);
    CHECK(y[1] == 654 + 20);
    std::filesystem::remove(path);
  }
}

TEST_CASE("mxc_compile: the header's example is C99 and C++, and works") {
  const test::TemporaryFolder folder("mxc_compile");
  const std::string example = Example();
  REQUIRE(example.find("mxc_compile(&options)") != example.npos);
  std::string network = kNetwork;
  test::WriteText(folder.File("lenet.json"), network);
  const std::string source =
      "#include <stdio.h>\n"
      "#include \"tools/driver/mxc_compile.h\"\n"
      "int main(void) {\n" +
      example + "return 0;\n}\n";
  const std::filesystem::path library = MXC_TEST_SHARED_LIBRARY;
  for (const auto& [compiler, name] :
       {std::pair(MXC_TEST_CC " -std=c99", "example.c"),
        std::pair(MXC_TEST_CXX " -std=c++11", "example.cc")}) {
    test::WriteText(folder.File(name), source);
    OutputOf(fmt::format(
        "cd {} && {} -pedantic -Wall -Wextra -Werror -I{} {} {} -Wl,-rpath,{} "
        "-o example && rm -f lenet.mxa && ./example 2>&1",
        folder.path().string(), compiler, MXC_SOURCE_DIR, name,
        library.string(), library.parent_path().string()));
    CHECK_NOTHROW(api::Model(folder.File("lenet.mxa")));
  }
}

TEST_CASE("mxc_compile: the same bytes from any threads") {
  const mxc_compile_options options = Options();
  const std::string expected = Compiled(options);
  REQUIRE(!expected.empty());
  std::string first, second;
  std::thread one([&] { first = Compiled(options); });
  std::thread two([&] { second = Compiled(options); });
  one.join();
  two.join();
  CHECK(first == expected);
  CHECK(second == expected);
}

TEST_CASE("mxc_compile: all that is wrong with the options at once") {
  mxc_compile_options options = Options();
  const int64_t dims[] = {0, 3}, batch = -1;
  const char* const entries[] = {"infer", "fly"};
  options.target = "z80";
  options.level = 7;
  options.batches = &batch;
  options.batch_count = 1;
  options.entries = entries;
  options.entry_count = 2;
  CHECK(MessagesOf(&options).size() == 4);
  const mxc_compile_shape shapes[] = {{"data", 2, dims}, {nullptr, 2, dims}};
  options.shapes = shapes;
  options.shape_count = 2;
  const mxc_compile_type type = {"data", 99};
  options.types = &type;
  options.type_count = 1;
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{"shape of 'data': every axis has 1 or more",
                                 "a shape has no name",
                                 "type of 'data': 99 is no mxc_dtype"});
}

TEST_CASE("mxc_compile: options of older and newer callers") {
  const std::string expected = Compiled(Options());
  mxc_compile_options older = Options();
  older.struct_size = offsetof(mxc_compile_options, tuning_cache);
  older.tuning_cache = "/nowhere/is not read";
  CHECK(Compiled(older) == expected);

  struct Newer {
    mxc_compile_options options;
    int64_t more;
  } newer = {};
  newer.options = Options();
  newer.options.struct_size = sizeof newer;
  CHECK(Compiled(newer.options) == expected);
  newer.more = 1;
  const auto messages = MessagesOf(&newer.options);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].starts_with("options that libmxc "));
  CHECK(MessagesOf(nullptr).size() == 1);
}

TEST_CASE("mxc_compile: without a network, an artifact or a file") {
  mxc_compile_options options = Options();
  options.text = nullptr;
  CHECK(!MessagesOf(&options).empty());
  mxc_compilation* failed = mxc_compile(&options);
  const size_t before = mxc_compilation_diagnostic_count(failed);
  CHECK(mxc_compilation_save(failed, "/tmp/never") != 0);
  CHECK(mxc_compilation_diagnostic_count(failed) == before + 1);
  mxc_compilation_release(failed);
  mxc_compilation_release(nullptr);
  CHECK(mxc_compilation_diagnostic_count(nullptr) == 0);
  CHECK(mxc_compilation_artifact(nullptr, nullptr) == nullptr);
}

TEST_CASE("mxc_compile: null arrays have no elements, values are there") {
  mxc_compile_options_init(nullptr, 0);
  const std::string expected = Compiled(Options());
  mxc_compile_options options = Options();
  options.array_count = options.shape_count = options.type_count = 3;
  options.batch_count = options.bucket_count = options.entry_count = 3;
  options.optimizer_attribute_count = options.fixed_count = 3;
  options.label_name_count = 3;
  CHECK(Compiled(options) == expected);
  const int64_t dims[] = {2, 3};
  const mxc_compile_array array = {"fc_weight", MXC_F32, 2, dims, nullptr};
  options = Options();
  options.arrays = &array;
  options.array_count = 1;
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{"array 'fc_weight' has no values"});
  const mxc_compile_shape shape = {"data", 2, nullptr};
  options = Options();
  options.shapes = &shape;
  options.shape_count = 1;
  CHECK(!MessagesOf(&options).empty());
}

TEST_CASE("mxc_compile: gives up when it is no longer wanted") {
  mxc_compile_options options = Options();
  // Wanted for so many questions: every one of them may be the last.
  static std::atomic<int> left;
  options.is_cancelled = [](void*) { return --left < 0 ? 1 : 0; };
  left = 1 << 20;
  CHECK(Compiled(options) != "");
  const int questions = (1 << 20) - left;
  CHECK(questions > 10);
  for (const int wanted : {0, 1, questions / 2, questions - 1}) {
    CAPTURE(wanted);
    left = wanted;
    CHECK(MessagesOf(&options) == std::vector<std::string>{"cancelled"});
  }
}

TEST_CASE("mxc_compile: precisions have the names of the command line") {
  mxc_compile_options options =
      Options(R"json({"mxc": 1, "inputs": {"data": [2, 3]},
    "nodes": [{"op": "FullyConnected", "num_hidden": 5},
              {"op": "FullyConnected", "num_hidden": 2}]})json");
  const std::string single = Compiled(options);
  options.precision = "f32";
  CHECK(Compiled(options) == single);
  options.precision = "bf16";
  CHECK(Compiled(options) != single);
  options.precision = "half";
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{
            "precision 'half' is unknown; expected f32, tf32, bf16 or f16"});
}

TEST_CASE("mxc_compile: weights of fewer bits, but of those that are kept") {
  mxc_compile_options options =
      Options(R"json({"mxc": 1, "inputs": {"data": [2, 64]},
    "nodes": [{"op": "FullyConnected", "name": "a", "num_hidden": 64},
              {"op": "FullyConnected", "name": "b", "num_hidden": 64}]})json");
  const size_t wide = Compiled(options).size();
  options.weights = "int8";
  const std::string both = Compiled(options);
  CHECK(both.find("\nweights: int8\n") != both.npos);
  CHECK(both.find("kept_weight:") == both.npos);
  const char* kept = "b_*";
  options.kept_weights = &kept;
  options.kept_weight_count = 1;
  const std::string one = Compiled(options);
  CHECK(one.find("\nkept_weight: b_*\n") != one.npos);
  // Each matrix takes 3 bytes of 4 less; code may take a page or two more.
  constexpr size_t kSaved = size_t{3} * 64 * 64, kSlack = 2 * 4096 + 1;
  CHECK(wide > both.size() + 2 * kSaved - kSlack);
  CHECK(wide > one.size() + kSaved - kSlack);
  CHECK(one.size() > both.size() + kSaved - kSlack);
  options.weights = "int4:7";
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{"weights 'int4:7' are unknown; expected f32, "
                                 "bf16, int8, int4 or int4:GROUP"});
}

TEST_CASE("mxc_compile: layers that read all digits whatever the precision") {
  mxc_compile_options options =
      Options(R"json({"mxc": 1, "inputs": {"data": [64, 64]},
    "nodes": [{"op": "FullyConnected", "name": "a", "num_hidden": 64},
              {"op": "FullyConnected", "name": "b", "num_hidden": 64}]})json");
  options.precision = "bf16";
  CHECK(Compiled(options).find("kept_layer:") == std::string::npos);
  const char* kept = "b*";
  options.kept_layers = &kept;
  options.kept_layer_count = 1;
  CHECK(Compiled(options).find("\nkept_layer: b*\n") != std::string::npos);
  options.precision = nullptr;
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{"--keep-layer 'b*' without --precision, which "
                                 "says what is kept of the others"});
}

TEST_CASE("mxc_compile: a bound of what data decide, and the number there is") {
  mxc_compile_options options = Options(R"json({"mxc": 1,
    "inputs": {"data": [4, 2], "mask": [4]},
    "nodes": [{"op": "_contrib_boolean_mask", "name": "rows",
               "inputs": ["data", "mask"]},
              {"op": "square", "name": "squares"}]})json");
  const mxc_compile_bound bounds[] = {{"rows", 3}, {"rows", 2}, {nullptr, 1}};
  options.bounds = bounds;
  options.bound_count = 1;
  const test::TemporaryFolder folder("mxc_compile");
  const std::string path = folder.File("net.mxa");
  test::WriteText(path, Compiled(options));
  const api::Model model(path);
  const size_t output = 0, count = 1;
  CHECK(model.outputs(0)[output].dims[0] == 3);
  CHECK(model.outputs(0)[count].use == MXC_USE_COUNT);
  api::Executor executor(model, {});
  CHECK(executor.FindOutput("count:squares_output") == count);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  executor.SetInput("data", std::span<const float>(x));
  std::vector<float> mask = {0, 1, 0, 1};
  executor.SetInput("mask", std::span<const float>(mask));
  executor.Run();
  CHECK(executor.Output<int32_t>(count)[0] == 2);
  const auto first = executor.Output<float>(output).span().first(4);
  CHECK(std::vector<float>(first.begin(), first.end()) ==
        std::vector<float>{9, 16, 49, 64});
  mask = {1, 1, 1, 1};
  executor.SetInput("mask", std::span<const float>(mask));
  CHECK_THROWS_WITH(executor.Run(),
                    "step 'rows': data decide on more rows than the bound for "
                    "which the artifact is compiled");
  options.bound_count = 3;
  CHECK(
      MessagesOf(&options) ==
      std::vector<std::string>{"two bounds for 'rows'", "a bound has no name"});
  const mxc_compile_bound wrong = {"squares", 0};
  options.bounds = &wrong;
  options.bound_count = 1;
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{
            "bound of 'squares': 0 rows, expected 1 or more"});
}

TEST_CASE("mxc_compile: labels are smoothed where something trains") {
  mxc_compile_options options =
      Options(R"json({"mxc": 1, "inputs": {"data": [2, 3]},
    "nodes": [{"op": "FullyConnected", "num_hidden": 5},
              {"op": "SoftmaxOutput", "name": "softmax"}]})json");
  const char* train = "train";
  options.entries = &train;
  options.entry_count = 1;
  const std::string plain = Compiled(options);
  options.label_smoothing = 0.1;
  CHECK(Compiled(options) != plain);
  options.label_smoothing = 1;
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{
            "label smoothing 1, expected from 0 to less than 1"});
}

TEST_CASE("mxc_compile: a last layer for other classes") {
  mxc_compile_options options = Options();
  options.num_classes = 7;
  const test::TemporaryFolder folder("mxc_compile");
  const std::string path = folder.File("net.mxa");
  test::WriteText(path, Compiled(options));
  const api::Model model(path);
  const auto shape = api::Shape(model.outputs(0)[0]);
  CHECK(std::vector<int64_t>(shape.begin(), shape.end()) ==
        std::vector<int64_t>{2, 7});
  options.num_classes = 1;
  CHECK(MessagesOf(&options) ==
        std::vector<std::string>{"1 classes, expected 2 or more"});
}

TEST_CASE("mxc_compile: an initializer is checked where nothing needs it") {
  mxc_compile_options options = Options();
  const float values[6] = {};
  const int64_t weight[] = {2, 3}, bias[] = {2};
  const mxc_compile_array arrays[] = {{"fc_weight", MXC_F32, 2, weight, values},
                                      {"fc_bias", MXC_F32, 1, bias, values}};
  options.arrays = arrays;
  options.array_count = 2;
  CHECK(Compiled(options) != "");
  options.init = "nope";
  const std::vector<std::string> messages = MessagesOf(&options);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].find("'nope' is unknown") != std::string::npos);
}

}  // namespace mxc
