// SPDX-License-Identifier: Apache-2.0
// Entries for sequences of any length up to their own.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/runtime/api.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

constexpr int64_t kMost = 64;

// x [2, T, 8], and 2x + 1 as [2, T, 8], as [2T, 8], rows of one sequence
// behind those of the other, and as [2T, 8] with the two side by side.
TestEntry OpenEntry(int64_t most) {
  TestEntry e;
  e.name = "infer:" + std::to_string(most);
  e.batch = 2;
  e.length = most;
  const auto open = [](const char* name, std::vector<int64_t> dims,
                       mxc_buffer_kind kind, uint64_t axis, int64_t inner) {
    return TestBuffer{.name = name,
                      .dims = std::move(dims),
                      .kind = kind,
                      .offset = 1 + axis,
                      .advance = inner};
  };
  e.buffers = {open("x", {2, kMost, 8}, MXC_BUFFER_INPUT, 1, 1),
               {.name = "length",
                .dims = {1},
                .kind = MXC_BUFFER_INPUT,
                .dtype = MXC_I32,
                .role = MXC_TENSOR_LENGTH},
               open("same", {2, kMost, 8}, MXC_BUFFER_OUTPUT, 1, 1),
               open("behind", {2 * kMost, 8}, MXC_BUFFER_OUTPUT, 0, 1),
               open("beside", {2 * kMost, 8}, MXC_BUFFER_OUTPUT, 0, 2)};
  const int64_t tasks = 2 * kMost * 8 / kBlock;
  e.steps = {{"same", kScale, {0}, {2}, tasks},
             {"behind", kScale, {0}, {3}, tasks},
             {"beside", kScale, {0}, {4}, tasks}};
  e.inputs = {1, 0};
  e.outputs = {2, 3, 4};
  return e;
}

std::string Path() {
  TestArtifact artifact = ChainArtifact();
  artifact.entries = {OpenEntry(kMost), OpenEntry(16), OpenEntry(32)};
  return WriteTemporary("length", artifact.File());
}

std::vector<float> Numbers(size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

std::vector<float> Read(mxc_executor* e, size_t output, size_t count) {
  std::vector<float> values(count);
  CHECK(Message(mxc_read_output(e, output, values.data(), count * 4)) == "");
  return values;
}

TEST_CASE("inputs and outputs are as long as the caller says") {
  const ModelHandle model = Open(Path());
  const ExecutorHandle executor = Bind(model.get(), 1);
  mxc_executor* e = executor.get();
  const std::vector<float> whole = Numbers(2 * kMost * 8);
  // Until it is said they have the entry's length.
  REQUIRE(Message(mxc_set_input(e, "x", whole.data(), whole.size() * 4)) == "");
  REQUIRE(Message(mxc_run(e)) == "");
  CHECK(Read(e, 0, whole.size())[1] == 2 * whole[1] + 1);  // as kScale has it

  const std::vector<float> x = Numbers(2 * 5 * 8);
  CHECK(Message(mxc_set_input(e, "x", x.data(), x.size() * 4)) ==
        "'x' has 4096 bytes, but 320 are given");
  REQUIRE(Message(mxc_set_length(e, 5)) == "");
  mxc_tensor tensor;
  REQUIRE(Message(mxc_executor_input(e, 1, &tensor)) == "");
  CHECK(std::vector(tensor.dims, tensor.dims + tensor.rank) ==
        std::vector<int64_t>{2, 5, 8});
  CHECK(tensor.bytes == x.size() * 4);
  REQUIRE(Message(mxc_executor_output(e, 1, &tensor)) == "");
  CHECK(std::vector(tensor.dims, tensor.dims + tensor.rank) ==
        std::vector<int64_t>{10, 8});
  // A null name is the only input beside the length.
  REQUIRE(Message(mxc_set_input(e, nullptr, x.data(), x.size() * 4)) == "");
  REQUIRE(Message(mxc_run(e)) == "");
  const std::vector<float> same = Read(e, 0, x.size());
  const std::vector<float> behind = Read(e, 1, x.size());
  const std::vector<float> beside = Read(e, 2, x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(same[i] == 2 * x[i] + 1);
    CHECK(behind[i] == 2 * x[i] + 1);  // [2, 5, 8] and [2·5, 8]
  }
  // Side by side the first 5 entries are the first 10 rows of all.
  for (size_t i = 0; i < 5 * 8; ++i) CHECK(beside[i] == 2 * x[i] + 1);
  CHECK(Message(mxc_read_output(e, 0, nullptr, 0)) ==
        "'same' has 320 bytes, but 0 are given");
  for (const int64_t length : {int64_t{0}, kMost + 1, INT64_MIN, INT64_MAX}) {
    CHECK(Message(mxc_set_length(e, length)) ==
          "a length of " + std::to_string(length) + ", expected 1 to 64");
  }
}

TEST_CASE("the entry for a length is the shortest that holds it") {
  const ModelHandle model = Open(Path());
  const auto find = [&](int64_t length) {
    size_t entry = 99;
    const std::string message =
        Message(mxc_model_find_length(model.get(), "infer", 2, length, &entry));
    return message.empty() ? std::to_string(entry) : message;
  };
  CHECK(find(1) == "1");
  CHECK(find(16) == "1");
  CHECK(find(17) == "2");
  CHECK(find(33) == "0");
  CHECK(find(65).starts_with("no entry 'infer' for sequences of 65;"));
  int axis = 0;
  CHECK(Message(mxc_model_input_axis(model.get(), 0, 0, &axis)) == "");
  CHECK(axis == -1);
  CHECK(Message(mxc_model_input_axis(model.get(), 0, 1, &axis)) == "");
  CHECK(axis == 1);
  CHECK(Message(mxc_model_output_axis(model.get(), 0, 2, &axis)) == "");
  CHECK(axis == 0);
}

TEST_CASE("an entry without open axes has no length to set") {
  const ModelHandle model =
      Open(WriteTemporary("closed", ChainArtifact().File()));
  const ExecutorHandle executor = Bind(model.get(), 1);
  CHECK(Message(mxc_set_length(executor.get(), 1)) ==
        "the entry has no axis whose length is open");
}

}  // namespace
}  // namespace mxc::test
