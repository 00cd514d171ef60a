// SPDX-License-Identifier: Apache-2.0
// Callers' mistakes in C: inputs that were never set, pointers that are null.
#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/mxc_operators.h"
#include "tests/runtime/api.h"
#include "tests/runtime/block_artifacts.h"

namespace mxc::test {
namespace {

// Of all that the library without the trainer and the store declares.
std::string Headers() {
  std::string text;
  for (const char* header : {"/runtime/mxc.h", "/runtime/mxc_operators.h"}) {
    std::ifstream file(std::string(MXC_SOURCE_DIR) + header);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

ExecutorHandle BindEntry(mxc_model* model, const char* entry) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.entry = entry;
  options.threads = 2;
  mxc_executor* executor = nullptr;
  REQUIRE(Message(mxc_bind(model, &options, &executor)) == "");
  return ExecutorHandle(executor);
}

// The chain, compiled for the host ("") or another device.
std::string ChainOn(const std::string& device) {
  TestArtifact artifact = ChainArtifact();
  artifact.device = device;
  return WriteTemporary("arguments" + device, artifact.File());
}

void CheckUnset(mxc_status* status, const std::string& name) {
  CHECK(mxc_status_code(status) == MXC_INVALID_ARGUMENT);
  CHECK(Message(status) == "input '" + name + "' was not set");
}

// Where nothing has run yet.
void CheckNoOutputs(mxc_executor* executor, size_t size) {
  const std::string sentence = "there are no outputs before the first run";
  std::vector<std::byte> values(size);
  CHECK(Message(mxc_read_output(executor, 0, values.data(), size)) == sentence);
  const void* memory = nullptr;
  CHECK(Message(mxc_map_output(executor, 0, &memory, &size)) == sentence);
}

}  // namespace

TEST_CASE("an input that nobody has set keeps an entry from running") {
  for (const char* device : {"", "null"}) {
    CAPTURE(device);
    const ModelHandle model = Open(ChainOn(device));
    const ExecutorHandle executor = Bind(model.get(), 2);
    mxc_executor* e = executor.get();
    const std::vector<float> data = ChainInput(5);
    const std::vector<float> expected = ChainExpected(data).reversed;
    CheckUnset(mxc_run(e), "data");
    CheckUnset(mxc_run_async(e), "data");
    mxc_nonfinite found;
    CheckUnset(mxc_find_nonfinite(e, &found), "data");
    CheckNoOutputs(e, 4096);

    // The caller's memory serves as long as it is bound.
    REQUIRE(Message(mxc_bind_input(e, "data", data.data(), 4096)) == "");
    REQUIRE(Message(mxc_run(e)) == "");
    CHECK(Output(e, 0) == expected);
    REQUIRE(Message(mxc_bind_input(e, "data", nullptr, 4096)) == "");
    CheckUnset(mxc_run(e), "data");

    // The executor's own keeps its value.
    REQUIRE(Message(mxc_set_input(e, "data", data.data(), 4096)) == "");
    REQUIRE(Message(mxc_run(e)) == "");
    const std::vector<float> other = ChainInput(6);
    REQUIRE(Message(mxc_bind_input(e, "data", other.data(), 4096)) == "");
    REQUIRE(Message(mxc_run(e)) == "");
    CHECK(Output(e, 0) == ChainExpected(other).reversed);
    REQUIRE(Message(mxc_bind_input(e, "data", nullptr, 4096)) == "");
    REQUIRE(Message(mxc_run(e)) == "");
    if (*device == '\0') CHECK(Output(e, 0) == expected);
  }
}

TEST_CASE("a size that is refused sets nothing, a mapped input is set") {
  const ModelHandle model = Open(ChainOn(""));
  const ExecutorHandle executor = Bind(model.get(), 1);
  mxc_executor* e = executor.get();
  const std::vector<float> data = ChainInput(5);
  CHECK(Message(mxc_set_input(e, "data", data.data(), 4)) != "");
  CheckUnset(mxc_run(e), "data");
  void* memory = nullptr;
  size_t size = 0;
  REQUIRE(Message(mxc_map_input(e, "data", &memory, &size)) == "");
  REQUIRE(Message(mxc_unmap(e, memory)) == "");
  CHECK(Message(mxc_run(e)) == "");
}

TEST_CASE("labels and rates of training are set as data are") {
  const ModelHandle model =
      Open(WriteTemporary("unset", TrainArtifact().File()));
  const ExecutorHandle train = BindEntry(model.get(), "train");
  const std::vector<float> data(1024, 1.0f);
  REQUIRE(Message(mxc_set_input(train.get(), "data", data.data(), 4096)) == "");
  CheckUnset(mxc_run(train.get()), "learning_rate");
  const double rate = 0.5;
  REQUIRE(Message(mxc_set_input(train.get(), "learning_rate", &rate, 8)) == "");
  CHECK(Message(mxc_run(train.get())) == "");
  // Executors that share states have inputs of their own.
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.entry = "score";
  options.share = train.get();
  mxc_executor* score = nullptr;
  REQUIRE(Message(mxc_bind(model.get(), &options, &score)) == "");
  CheckUnset(mxc_run(score), "data");
  mxc_executor_close(score);
}

TEST_CASE("what is not read, empty or carried need not be set") {
  TestArtifact artifact = ChainArtifact();
  TestEntry& entry = artifact.entries.front();
  entry.buffers.push_back({"label", {3}, MXC_BUFFER_INPUT});
  entry.buffers.push_back({"nothing", {0}, MXC_BUFFER_INPUT});
  entry.inputs = {7, 0, 8};
  const std::vector<float> data = ChainInput(1);
  const ModelHandle model = Open(WriteTemporary("optional", artifact.File()));
  const ExecutorHandle executor = Bind(model.get(), 1);
  REQUIRE(Message(mxc_set_input(executor.get(), "data", data.data(), 4096)) ==
          "");
  CHECK(Message(mxc_run(executor.get())) == "");

  // data goes on from run to run.
  entry.carries = {static_cast<uint32_t>(entry.outputs[0]), 0};
  const ModelHandle goes_on = Open(WriteTemporary("carried", artifact.File()));
  const ExecutorHandle first = Bind(goes_on.get(), 1);
  REQUIRE(Message(mxc_run(first.get())) == "");
  CHECK(Output(first.get(), 0) ==
        ChainExpected(std::vector<float>(1024)).reversed);
}

TEST_CASE("memory that is not aligned to its elements is refused") {
  for (const char* device : {"", "null"}) {
    CAPTURE(device);
    const ModelHandle model = Open(ChainOn(device));
    const ExecutorHandle executor = Bind(model.get(), 1);
    std::vector<char> bytes(4096 + 8);
    const auto place = reinterpret_cast<uintptr_t>(bytes.data());
    char* const good = bytes.data() + (4 - place % 4) % 4;
    for (int off = 1; off < 4; ++off) {
      CHECK(Message(mxc_bind_input(executor.get(), "data", good + off, 4096)) ==
            "the memory for 'data' is not aligned to 4 bytes");
      CHECK(Message(mxc_bind_output(executor.get(), 0, good + off, 4096)) ==
            "the memory for 'reversed' is not aligned to 4 bytes");
    }
    CHECK(Message(mxc_bind_input(executor.get(), "data", good, 4096)) == "");
  }
}

namespace {

int Nothing(const mxc_call*) { return 0; }

// Every call that returns a status, with a null for each pointer in turn that
// may not be null, by the pointer's name.
struct NullCall {
  const char* function;
  const char* argument;
  std::function<mxc_status*()> call;
};

std::vector<NullCall> NullCalls(mxc_model* m, mxc_executor* e) {
  static mxc_entry_summary entry;
  static mxc_tensor tensor;
  static mxc_length length;
  static mxc_buffer_summary buffer;
  static mxc_step_summary step;
  static mxc_nonfinite nonfinite;
  static mxc_model* model;
  static mxc_executor* executor;
  static mxc_memory* memory;
  static void* data;
  static const void* read;
  static const int64_t* times;
  static char* text;
  static size_t size;
  static int flag, axis;
  static float values[1024];
  const auto null = nullptr;
#define NULL_CALL(function, argument, ...) \
  {#function, argument, [=]() -> mxc_status* { return function(__VA_ARGS__); }}
  return {
      NULL_CALL(mxc_model_open, "path", null, null, &model),
      NULL_CALL(mxc_model_open, "model", "a.mxa", null, null),
      NULL_CALL(mxc_model_open_memory, "file", null, 1, null, null, &model),
      NULL_CALL(mxc_model_open_memory, "model", "a", 1, null, null, null),
      NULL_CALL(mxc_team_create, "team", 1, null),
      NULL_CALL(mxc_model_verify, "model", null),
      NULL_CALL(mxc_model_symbol, "model", null, &text, &size),
      NULL_CALL(mxc_model_symbol, "text", m, null, &size),
      NULL_CALL(mxc_model_symbol, "size", m, &text, null),
      NULL_CALL(mxc_model_entry, "model", null, 0, &entry),
      NULL_CALL(mxc_model_entry, "summary", m, 0, null),
      NULL_CALL(mxc_model_find_entry, "model", null, null, 0, &size),
      NULL_CALL(mxc_model_find_entry, "entry", m, null, 0, null),
      NULL_CALL(mxc_model_input, "model", null, 0, 0, &tensor),
      NULL_CALL(mxc_model_input, "tensor", m, 0, 0, null),
      NULL_CALL(mxc_model_output, "model", null, 0, 0, &tensor),
      NULL_CALL(mxc_model_output, "tensor", m, 0, 0, null),
      NULL_CALL(mxc_model_input_read, "model", null, 0, 0, &flag),
      NULL_CALL(mxc_model_input_read, "read", m, 0, 0, null),
      NULL_CALL(mxc_model_carry, "model", null, 0, 0, &size, &size),
      NULL_CALL(mxc_model_find_length, "model", null, "infer", 0, 1, &size),
      NULL_CALL(mxc_model_find_length, "entry", m, "infer", 0, 1, null),
      NULL_CALL(mxc_model_input_axis, "model", null, 0, 0, &axis),
      NULL_CALL(mxc_model_input_axis, "axis", m, 0, 0, null),
      NULL_CALL(mxc_model_output_axis, "model", null, 0, 0, &axis),
      NULL_CALL(mxc_model_output_axis, "axis", m, 0, 0, null),
      NULL_CALL(mxc_set_length, "executor", null, 1),
      NULL_CALL(mxc_set_lengths, "executor", null, null, 0),
      NULL_CALL(mxc_set_lengths, "lengths", e, null, 1),
      NULL_CALL(mxc_model_length, "model", null, 0, 0, &length),
      NULL_CALL(mxc_model_length, "length", m, 0, 0, null),
      NULL_CALL(mxc_model_find_lengths, "model", null, "infer", 0, null, 0,
                &size),
      NULL_CALL(mxc_model_find_lengths, "lengths", m, "infer", 0, null, 1,
                &size),
      NULL_CALL(mxc_model_find_lengths, "entry", m, "infer", 0, null, 0, null),
      NULL_CALL(mxc_model_input_lengths, "model", null, 0, 0, &axis),
      NULL_CALL(mxc_model_input_lengths, "lengths", m, 0, 0, null),
      NULL_CALL(mxc_model_output_lengths, "model", null, 0, 0, &axis),
      NULL_CALL(mxc_model_output_lengths, "lengths", m, 0, 0, null),
      NULL_CALL(mxc_executor_input, "executor", null, 0, &tensor),
      NULL_CALL(mxc_executor_input, "tensor", e, 0, null),
      NULL_CALL(mxc_executor_output, "executor", null, 0, &tensor),
      NULL_CALL(mxc_executor_output, "tensor", e, 0, null),
      NULL_CALL(mxc_model_carry, "output", m, 0, 0, null, &size),
      NULL_CALL(mxc_model_carry, "input", m, 0, 0, &size, null),
      NULL_CALL(mxc_model_entry_state, "model", null, 0, &size),
      NULL_CALL(mxc_model_entry_state, "state", m, 0, null),
      NULL_CALL(mxc_model_output_state, "model", null, 0, 0, &size),
      NULL_CALL(mxc_model_output_state, "state", m, 0, 0, null),
      NULL_CALL(mxc_model_input_state, "model", null, 0, 0, &size),
      NULL_CALL(mxc_model_input_state, "state", m, 0, 0, null),
      NULL_CALL(mxc_model_state, "model", null, 0, &tensor),
      NULL_CALL(mxc_model_state, "tensor", m, 0, null),
      NULL_CALL(mxc_model_buffer, "model", null, 0, 0, &buffer),
      NULL_CALL(mxc_model_buffer, "summary", m, 0, 0, null),
      NULL_CALL(mxc_model_step, "model", null, 0, 0, &step),
      NULL_CALL(mxc_model_step, "summary", m, 0, 0, null),
      NULL_CALL(mxc_register_function, "name", null, 1, &Nothing, null),
      NULL_CALL(mxc_register_function, "function", "f", 1, null, null),
      NULL_CALL(mxc_register_operator, "op", null),
      NULL_CALL(mxc_load_functions, "path", null),
      NULL_CALL(mxc_bind, "model", null, null, &executor),
      NULL_CALL(mxc_bind, "executor", m, null, null),
      NULL_CALL(mxc_set_input, "executor", null, "data", values, 4096),
      NULL_CALL(mxc_set_input, "values", e, "data", null, 4096),
      NULL_CALL(mxc_map_input, "executor", null, "data", &data, &size),
      NULL_CALL(mxc_map_input, "memory", e, "data", null, &size),
      NULL_CALL(mxc_map_input, "size", e, "data", &data, null),
      NULL_CALL(mxc_bind_input, "executor", null, "data", values, 4096),
      NULL_CALL(mxc_bind_device_input, "executor", null, "data", values, 4096),
      NULL_CALL(mxc_unmap, "executor", null, values),
      NULL_CALL(mxc_run, "executor", null),
      NULL_CALL(mxc_run_async, "executor", null),
      NULL_CALL(mxc_wait, "executor", null),
      NULL_CALL(mxc_find_output, "executor", null, "sum", &size),
      NULL_CALL(mxc_find_output, "index", e, "sum", null),
      NULL_CALL(mxc_read_output, "executor", null, 0, values, 4096),
      NULL_CALL(mxc_read_output, "values", e, 0, null, 4096),
      NULL_CALL(mxc_map_output, "executor", null, 0, &read, &size),
      NULL_CALL(mxc_map_output, "memory", e, 0, null, &size),
      NULL_CALL(mxc_map_output, "size", e, 0, &read, null),
      NULL_CALL(mxc_bind_output, "executor", null, 0, values, 4096),
      NULL_CALL(mxc_bind_device_output, "executor", null, 0, values, 4096),
      NULL_CALL(mxc_step_times, "executor", null, &times, &size),
      NULL_CALL(mxc_step_times, "times", e, null, &size),
      NULL_CALL(mxc_step_times, "count", e, &times, null),
      NULL_CALL(mxc_memory_allocate, "executor", null, 8, &memory),
      NULL_CALL(mxc_memory_allocate, "memory", e, 8, null),
      NULL_CALL(mxc_memory_write, "memory", null, values, 8),
      NULL_CALL(mxc_memory_read, "memory", null, values, 8),
      NULL_CALL(mxc_read_state, "executor", null, "w", values, 4),
      NULL_CALL(mxc_read_state, "name", e, null, values, 4),
      NULL_CALL(mxc_read_state, "values", e, "w", null, 4),
      NULL_CALL(mxc_write_state, "executor", null, "w", values, 4),
      NULL_CALL(mxc_write_state, "name", e, null, values, 4),
      NULL_CALL(mxc_write_state, "values", e, "w", null, 4),
      NULL_CALL(mxc_reset_states, "executor", null),
      NULL_CALL(mxc_find_nonfinite, "executor", null, &nonfinite),
      NULL_CALL(mxc_find_nonfinite, "found", e, null),
  };
#undef NULL_CALL
}

}  // namespace

TEST_CASE("a pointer that is null is named, in every call of mxc.h") {
  const ModelHandle model = Open(ChainOn(""));
  const ExecutorHandle executor = Bind(model.get(), 1, /*profile=*/true);
  std::set<std::string> tried;
  for (const NullCall& null : NullCalls(model.get(), executor.get())) {
    CAPTURE(null.function);
    mxc_status* status = null.call();
    CHECK(mxc_status_code(status) == MXC_INVALID_ARGUMENT);
    CHECK(Message(status) == "'" + std::string(null.argument) + "' is null");
    tried.insert(null.function);
  }
  const std::string header = Headers();
  const std::regex declaration(R"(MXC_API mxc_status\*\s+(mxc_\w+)\()");
  std::set<std::string> declared;
  for (std::sregex_iterator i(header.begin(), header.end(), declaration), end;
       i != end; ++i) {
    declared.insert((*i)[1]);
  }
  CHECK(declared.size() > 30);
  CHECK(tried == declared);

  mxc_memory* memory = nullptr;
  REQUIRE(Message(mxc_memory_allocate(executor.get(), 8, &memory)) == "");
  CHECK(Message(mxc_memory_write(memory, nullptr, 8)) == "'values' is null");
  CHECK(Message(mxc_memory_read(memory, nullptr, 8)) == "'values' is null");
  mxc_memory_free(memory);
}

TEST_CASE("calls without a status answer nothing for a null") {
  CHECK(mxc_status_code(nullptr) == MXC_OK);
  CHECK(std::string(mxc_status_message(nullptr)) == "");
  mxc_status_release(nullptr);
  mxc_model_close(nullptr);
  mxc_executor_close(nullptr);
  mxc_memory_free(nullptr);
  mxc_free(nullptr);
  CHECK(std::string(mxc_model_manifest(nullptr)) == "");
  mxc_model_sizes sizes = {1, 2, 3};
  mxc_model_measure(nullptr, &sizes);
  CHECK(sizes.file_bytes == 0);
  mxc_model_measure(nullptr, nullptr);
  CHECK(mxc_model_entry_count(nullptr) == 0);
  CHECK(mxc_model_carry_count(nullptr, 0) == 0);
  CHECK(mxc_model_state_count(nullptr) == 0);
  CHECK(mxc_executor_entry(nullptr) == 0);
  CHECK(mxc_executor_threads(nullptr) == 0);
  CHECK(mxc_memory_data(nullptr) == nullptr);
}

TEST_CASE("mxc.h says which artifacts it reads") {
  CHECK(Contains(Headers(), "/* Of the artifacts that it reads: " +
                                std::to_string(MXC_ABI_VERSION) + ". */"));
}

}  // namespace mxc::test
