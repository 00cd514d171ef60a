// SPDX-License-Identifier: Apache-2.0
// What lets the C API grow: options that say their size, versions, mapped
// memory, and what tensors are for.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/mxc.hpp"
#include "runtime/mxc_operators.h"
#include "tests/runtime/api.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

ModelHandle OpenChain() {
  return Open(WriteTemporary("options", ChainArtifact().File()));
}

std::string WhyNotBound(mxc_model* model, const mxc_bind_options& options) {
  mxc_executor* executor = nullptr;
  const std::string message = Message(mxc_bind(model, &options, &executor));
  if (message.empty()) mxc_executor_close(executor);
  return message;
}

// Of a program that was compiled with a later header.
struct LaterOptions {
  mxc_bind_options known = MXC_BIND_OPTIONS;
  int64_t more = 0;
};

}  // namespace

TEST_CASE("options of older and newer programs are understood") {
  const ModelHandle model = OpenChain();
  LaterOptions options;
  CHECK(WhyNotBound(model.get(), options.known) == "");
  options.known.struct_size = 0;
  CHECK(WhyNotBound(model.get(), options.known) ==
        "a struct_size of 0; initialize options with MXC_MODEL_OPTIONS, "
        "MXC_BIND_OPTIONS or MXC_TRAINER_OPTIONS, and operators with "
        "sizeof(mxc_operator)");
  // An older program ends before the device: what lies there is not its.
  options.known.struct_size = offsetof(mxc_bind_options, device);
  options.known.device = reinterpret_cast<const char*>(1);
  CHECK(WhyNotBound(model.get(), options.known) == "");
  options.known.device = nullptr;
  options.known.struct_size = sizeof options;
  CHECK(WhyNotBound(model.get(), options.known) == "");
  options.more = 7;
  CHECK(Contains(WhyNotBound(model.get(), options.known),
                 "an option that this library, version "));
}

TEST_CASE("a library says its versions") {
  CHECK(Contains(mxc_version(), "."));
  CHECK(mxc_format_version() == MXC_ABI_VERSION);
}

TEST_CASE("what is mapped keeps an executor from running") {
  const ModelHandle model = OpenChain();
  const ExecutorHandle executor = Bind(model.get(), 2);
  mxc_executor* e = executor.get();
  const std::vector<float> data = ChainInput(3);
  void* memory = nullptr;
  size_t size = 0;
  REQUIRE(Message(mxc_map_input(e, "data", &memory, &size)) == "");
  REQUIRE(size == data.size() * sizeof data[0]);
  std::memcpy(memory, data.data(), size);
  mxc_status* status = mxc_run(e);
  CHECK(mxc_status_code(status) == MXC_BUSY);
  CHECK(Message(status) ==
        "an input or output is mapped; unmap it before a run");
  REQUIRE(Message(mxc_unmap(e, memory)) == "");
  CHECK(Message(mxc_unmap(e, memory)) == "memory that is not mapped");
  REQUIRE(Message(mxc_run(e)) == "");
  CHECK(Output(e, 0) == ChainExpected(data).reversed);
  // What was written stays.
  REQUIRE(Message(mxc_map_input(e, "data", &memory, &size)) == "");
  CHECK(std::memcmp(memory, data.data(), size) == 0);
  REQUIRE(Message(mxc_unmap(e, memory)) == "");
}

TEST_CASE("a model says what its entries and tensors are for") {
  TestArtifact artifact = TrainArtifact();
  TestEntry& train = artifact.entries.front();
  train.buffers.push_back({"h", {4}, MXC_BUFFER_INPUT});
  train.buffers.push_back({"h next", {4}, MXC_BUFFER_OUTPUT});
  train.inputs = {7, 0, 1};
  train.outputs = {6, 8};
  train.carries = {8, 7};
  const api::Model model(WriteTemporary("roles", artifact.File()));
  CHECK(model.entry(0).purpose == MXC_PURPOSE_TRAIN);
  CHECK(model.entry(1).purpose == MXC_PURPOSE_SCORE);
  CHECK(model.inputs(0)[1].use == MXC_USE_DATA);
  CHECK(model.inputs(0)[2].use == MXC_USE_RATE);
  CHECK(model.outputs(0)[0].use == MXC_USE_LOSS);
  CHECK(model.states()[0].use == MXC_USE_PARAMETER);
  const auto carries = model.carries(0);
  REQUIRE(carries.size() == 1);
  CHECK(carries[0] == std::pair<size_t, size_t>(1, 0));
  CHECK(model.carries(1).empty());

  train.buffers[6].role = MXC_TENSOR_RATE;
  CHECK(Contains(Refusal(WriteTemporary("roles", artifact.File())),
                 "entry 0, buffer 6: a rate that is no f64, or a loss or norm "
                 "that is no f32"));
  train.buffers[6].role = MXC_TENSOR_ROLE_COUNT;
  CHECK(Contains(Refusal(WriteTemporary("roles", artifact.File())),
                 "entry 0, buffer 6: its field 'role' is unknown"));
}

}  // namespace mxc::test
