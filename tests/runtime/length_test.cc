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

// x [2, S, 16], y [T, 32] and z [T, S], a table of both, through kScale. Tensors have
// the elements of 32 and 32, several sequences where lengths are less.
TestEntry EntryOfTwo(int64_t s, int64_t t) {
  TestEntry e;
  e.name = "infer:S=" + std::to_string(s) + ",T=" + std::to_string(t);
  e.batch = 2;
  const auto tensor = [](const char* name, std::vector<int64_t> dims,
                         mxc_buffer_kind kind, std::vector<uint32_t> open) {
    return TestBuffer{.name = name,
                      .dims = std::move(dims),
                      .kind = kind,
                      .open = std::move(open)};
  };
  const auto length = [](const char* name, int64_t most) {
    return TestBuffer{.name = name,
                      .dims = {1},
                      .kind = MXC_BUFFER_INPUT,
                      .dtype = MXC_I32,
                      .advance = most,
                      .role = MXC_TENSOR_LENGTH};
  };
  e.buffers = {tensor("x", {2, 32, 16}, MXC_BUFFER_INPUT, {1, 1, 0}),
               tensor("y", {32, 32}, MXC_BUFFER_INPUT, {0, 1, 1}),
               tensor("z", {32, 32}, MXC_BUFFER_INPUT, {0, 1, 1, 1, 1, 0}),
               length("length:S", s),
               length("length:T", t),
               tensor("of_x", {2, 32, 16}, MXC_BUFFER_OUTPUT, {1, 1, 0}),
               tensor("of_y", {32, 32}, MXC_BUFFER_OUTPUT, {0, 1, 1}),
               tensor("of_z", {32, 32}, MXC_BUFFER_OUTPUT, {0, 1, 1, 1, 1, 0})};
  const int64_t tasks = 2 * 32 * 16 / kBlock;
  e.steps = {{"of_x", kScale, {0}, {5}, tasks},
             {"of_y", kScale, {1}, {6}, tasks},
             {"of_z", kScale, {2}, {7}, tasks}};
  e.inputs = {0, 1, 2, 3, 4};
  e.outputs = {5, 6, 7};
  return e;
}

std::string PathOfTwo() {
  TestArtifact artifact = ChainArtifact();
  artifact.entries = {EntryOfTwo(32, 32), EntryOfTwo(32, 16),
                      EntryOfTwo(16, 32), EntryOfTwo(16, 16)};
  return WriteTemporary("lengths", artifact.File());
}

TEST_CASE("an entry may leave several lengths open") {
  const ModelHandle model = Open(PathOfTwo());
  REQUIRE(mxc_model_length_count(model.get(), 0) == 2);
  mxc_length length;
  REQUIRE(Message(mxc_model_length(model.get(), 0, 1, &length)) == "");
  CHECK(std::string(length.name) == "T");
  CHECK(length.most == 32);
  CHECK(Message(mxc_model_length(model.get(), 0, 2, &length)) ==
        "no length 2; there are 2");
  int lengths[MXC_AXES];
  REQUIRE(Message(mxc_model_output_lengths(model.get(), 0, 2, lengths)) == "");
  CHECK(std::vector(lengths, lengths + 3) == std::vector<int>{1, 0, -1});

  const ExecutorHandle executor = Bind(model.get(), 1);
  mxc_executor* e = executor.get();
  const std::vector<int64_t> set = {5, 3};
  CHECK(Message(mxc_set_length(e, 5)) ==
        "1 given, but the entry has 2 of them: 'S', 'T'");
  CHECK(Message(mxc_set_lengths(e, std::vector<int64_t>{5, 33}.data(), 2)) ==
        "a length of 33 for 'T', expected 1 to 32");
  REQUIRE(Message(mxc_set_lengths(e, set.data(), 2)) == "");
  const std::vector<float> x = Numbers(2 * 5 * 16), y = Numbers(3 * 32),
                           z = Numbers(3 * 5);
  REQUIRE(Message(mxc_set_input(e, "x", x.data(), x.size() * 4)) == "");
  REQUIRE(Message(mxc_set_input(e, "y", y.data(), y.size() * 4)) == "");
  REQUIRE(Message(mxc_set_input(e, "z", z.data(), z.size() * 4)) == "");
  mxc_tensor tensor;
  REQUIRE(Message(mxc_executor_output(e, 2, &tensor)) == "");
  CHECK(std::vector(tensor.dims, tensor.dims + tensor.rank) ==
        std::vector<int64_t>{3, 5});
  REQUIRE(Message(mxc_run(e)) == "");
  const auto is_scaled = [&](size_t output, const std::vector<float>& of) {
    const std::vector<float> found = Read(e, output, of.size());
    for (size_t i = 0; i < of.size(); ++i) CHECK(found[i] == 2 * of[i] + 1);
  };
  is_scaled(0, x);
  is_scaled(1, y);
  is_scaled(2, z);
}

TEST_CASE("the entry for several lengths is the smallest that holds them all") {
  const ModelHandle model = Open(PathOfTwo());
  const auto find = [&](std::vector<int64_t> lengths) {
    size_t entry = 99;
    const std::string message = Message(mxc_model_find_lengths(
        model.get(), "infer", 2, lengths.data(), lengths.size(), &entry));
    return message.empty() ? std::to_string(entry) : message;
  };
  CHECK(find({1, 1}) == "3");
  CHECK(find({17, 16}) == "1");
  CHECK(find({16, 17}) == "2");
  CHECK(find({17, 17}) == "0");
  CHECK(
      find({33, 1}).starts_with("no entry 'infer' for sequences of 33 and 1;"));
  CHECK(find({8}).starts_with("no entry 'infer' for sequences of 8;"));
}

TEST_CASE("lengths that a damaged table has are refused") {
  const auto refusal = [](auto change) {
    TestArtifact artifact = ChainArtifact();
    artifact.entries = {EntryOfTwo(32, 32)};
    change(artifact.entries[0].buffers);
    return Refusal(WriteTemporary("damaged", artifact.File()));
  };
  using Buffers = std::vector<TestBuffer>;
  const auto open = [&](std::vector<uint32_t> rows) {
    return refusal([&](Buffers& b) { b[0].open = rows; });
  };
  for (const auto& rows :
       std::vector<std::vector<uint32_t>>{{3, 1, 0},
                                          {1, 0, 0},
                                          {1, 3, 0},
                                          {1, 0xffffffff, 0},
                                          {1, 1, 0, 1, 1, 0},
                                          {1, 1, 0, 0, 1, 0},
                                          {0xffffffff, 1, 0}}) {
    CHECK(Contains(open(rows),
                   "open along an axis that has not the length's entries"));
  }
  CHECK(Contains(open({1, 1, 2}), "open along an axis of no length"));
  CHECK(Contains(open({1, 1}), "open along an axis that it has not"));
  CHECK(Contains(refusal([](Buffers& b) { b[0].offset = 1; }),
                 "open along an axis that it has not"));
  CHECK(Contains(refusal([](Buffers& b) {
                   b[0].open = {};
                   b[0].period = 7;
                   b[0].shift = 0xfffffff0;
                 }),
                 "the open axes of a buffer leave the operands"));
  CHECK(Contains(refusal([](Buffers& b) {
                   b[0].open = {};
                   b[0].shift = 3;
                 }),
                 "rows with two owners"));
  CHECK(Contains(refusal([](Buffers& b) { b[3].advance = 0; }),
                 "a length of no entries or too many"));
  CHECK(Contains(refusal([](Buffers& b) { b[4].name = "length:S"; }),
                 "two lengths of one name"));
  CHECK(Contains(refusal([](Buffers& b) {
                   for (TestBuffer& buffer : b) {
                     if (buffer.open.size() > 3) buffer.open = {1, 1, 0};
                     if (buffer.open.size() == 3 && buffer.open[2] == 1) {
                       buffer.open = {};
                     }
                   }
                 }),
                 "has a length of no open axis"));
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
