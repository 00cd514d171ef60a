// SPDX-License-Identifier: Apache-2.0
// A device whose memory the host cannot touch computes the same bytes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/mxc.hpp"
#include "tests/runtime/api.h"
#include "tests/runtime/block_artifacts.h"

namespace mxc::test {
namespace {

constexpr const char* kDevices[] = {"", "null"};

api::Model ModelFor(const std::string& device, TestArtifact artifact) {
  artifact.device = device;
  return api::Model(WriteTemporary("device" + device, artifact.File()));
}

api::Executor BindTo(const api::Model& model, int threads,
                     const char* entry = nullptr,
                     mxc_executor* share = nullptr) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.threads = threads;
  options.entry = entry;
  options.share = share;
  return api::Executor(model, options);
}

// Small numbers, as the type of each input has them.
void Fill(const api::Model& model, api::Executor& executor, int seed) {
  for (const mxc_tensor& input : model.inputs(executor.entry())) {
    const auto memory = executor.MapInput(input.name);
    const size_t size = mxc_dtype_size(input.dtype);
    for (size_t i = 0; i < memory.size() / size; ++i) {
      const auto value = static_cast<int>(i % 7) + seed;
      const auto set = [&](auto element) {
        std::memcpy(memory.data() + i * size, &element, size);
      };
      if (input.dtype == MXC_F32) set(static_cast<float>(value));
      if (input.dtype == MXC_F64) set(0.125 * value);
      if (input.dtype == MXC_I64) set(static_cast<int64_t>(value));
    }
  }
}

std::vector<std::vector<std::byte>> OutputsOf(const api::Model& model,
                                              api::Executor& executor) {
  std::vector<std::vector<std::byte>> outputs;
  for (size_t k = 0; k < model.outputs(executor.entry()).size(); ++k) {
    const auto output = executor.Output(k);
    outputs.emplace_back(output.begin(), output.end());
  }
  return outputs;
}

}  // namespace

TEST_CASE("the host cannot follow the addresses of the null device") {
  const auto device = runtime::FindDevice("null");
  REQUIRE(device.ok());
  CHECK_FALSE((*device)->IsHost());
  const auto memory = (*device)->Allocate(8, "memory");
  REQUIRE(memory.ok());
  // Neither user space nor the kernel has such addresses.
  const auto address = reinterpret_cast<uintptr_t>((*memory)->data());
  const uintptr_t high = address >> 62;
  CHECK(high == 1);
  const double there = 2.5;
  double here = 0;
  (*device)->Write((*memory)->data(), &there, sizeof there);
  (*device)->Read(&here, (*memory)->data(), sizeof here);
  CHECK(here == 2.5);
}

TEST_CASE("a device's name may end with its number") {
  const auto device = runtime::FindDevice("null:0");
  REQUIRE(device.ok());
  CHECK(*device == *runtime::FindDevice("null"));
  const auto first = runtime::FindDevice("cuda"),
             second = runtime::FindDevice("cuda:1");
  REQUIRE((first.ok() && second.ok()));
  CHECK(*first == *runtime::FindDevice("cuda:0"));
  CHECK(*first != *second);
  CHECK(std::string((*second)->name()) == "cuda");
  for (const char* name : {"null:1", "null:", "null:00", "none:0", ":0", "",
                           "cuda:-1", "cuda:64", "cuda:01", "cuda:1 "}) {
    CAPTURE(name);
    CHECK_FALSE(runtime::FindDevice(name).ok());
  }
}

TEST_CASE("kernels, repeats and prepared weights on the null device") {
  for (const TestArtifact& artifact : {ChainArtifact(), PreparedArtifact(),
                                       ScanArtifact(), NestedArtifact()}) {
    const api::Model host = ModelFor("", artifact);
    const api::Model device = ModelFor("null", artifact);
    for (const int threads : {1, 3}) {
      api::Executor cpu = BindTo(host, threads);
      api::Executor null = BindTo(device, threads);
      for (int seed = 0; seed < 8; ++seed) {
        Fill(host, cpu, seed);
        Fill(device, null, seed);
        cpu.Run();
        null.Run();
        CHECK(OutputsOf(host, cpu) == OutputsOf(device, null));
      }
    }
  }
}

TEST_CASE("states live on the null device, shared by its executors") {
  std::vector<std::vector<float>> weights;
  std::vector<std::vector<std::byte>> scores;
  for (const char* device : kDevices) {
    const api::Model model = ModelFor(device, TrainArtifact());
    api::Executor train = BindTo(model, 2, "train");
    api::Executor score = BindTo(model, 2, "score", train.handle());
    std::vector<float> weight(kWide);
    const auto note = [&] {
      train.ReadState("weight", std::span(weight));
      weights.push_back(weight);
    };
    Fill(model, train, 1);
    Fill(model, score, 1);
    note();
    for (int step = 0; step < 3; ++step) train.Run();
    score.Run();
    scores.push_back(OutputsOf(model, score).front());
    note();
    train.ResetStates();
    note();
    weight.assign(kWide, 3);
    train.WriteState("weight", std::span(weight));
    train.Run();
    note();
  }
  REQUIRE(weights.size() == 8);
  for (size_t i = 0; i < 4; ++i) CHECK(weights[i] == weights[i + 4]);
  CHECK(weights[0] != weights[1]);
  CHECK(weights[0] == weights[2]);
  CHECK(scores[0] == scores[1]);
}

TEST_CASE("the caller's memory and the null device") {
  TestArtifact artifact = ChainArtifact();
  artifact.device = "null";
  const ModelHandle model = Open(WriteTemporary("device", artifact.File()));
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.device = "null";
  mxc_executor* bound = nullptr;
  REQUIRE(Message(mxc_bind(model.get(), &options, &bound)) == "");
  const ExecutorHandle executor(bound);
  const std::vector<float> data = ChainInput(9);
  std::vector<float> reversed(data.size()), flat(data.size());
  REQUIRE(Message(mxc_bind_input(bound, "data", data.data(), 4096)) == "");
  REQUIRE(Message(mxc_bind_output(bound, 0, reversed.data(), 4096)) == "");
  REQUIRE(Message(mxc_bind_output(bound, 2, flat.data(), 4096)) == "");
  REQUIRE(Message(mxc_run(bound)) == "");
  CHECK(reversed == ChainExpected(data).reversed);
  CHECK(Output(bound, 0) == reversed);
  CHECK(Output(bound, 1).front() == ChainExpected(data).sum);
  CHECK(flat[15] == reversed[0]);
}

TEST_CASE("tensors stay in the caller's memory of a device") {
  for (const char* device : kDevices) {
    CAPTURE(device);
    const api::Model model = ModelFor(device, ChainArtifact());
    api::Executor executor = BindTo(model, 2);
    constexpr size_t kBytes = 1024 * sizeof(float);
    // More sets of addresses than recordings are kept for.
    std::vector<api::Memory> data, reversed, flat;
    for (int i = 0; i < 20; ++i) {
      data.emplace_back(executor, kBytes);
      reversed.emplace_back(executor, kBytes);
      flat.emplace_back(executor, kBytes);
    }
    for (size_t run = 0; run < 50; ++run) {
      const size_t i = run % 3 == 0 ? 7 : run % 20;
      const std::vector<float> input = ChainInput(static_cast<int>(run));
      data[i].Write(std::span(input));
      executor.BindInput("data", data[i]);
      executor.BindOutput(0, reversed[i]);
      executor.BindOutput(2, flat[i]);  // not a buffer of its own
      executor.Run();
      std::vector<float> got(1024);
      reversed[i].Read(std::span(got));
      const auto expected = ChainExpected(input);
      CHECK(got == expected.reversed);
      CHECK(Output(executor.handle(), 0) == expected.reversed);
      CHECK(Output(executor.handle(), 1).front() == expected.sum);
      flat[i].Read(std::span(got));
      CHECK(got[15] == expected.reversed[0]);
    }
    // The executor's own memory again: what was bound stays as it is.
    const std::vector<float> before = Output(executor.handle(), 0);
    const std::vector<float> input = ChainInput(99);
    CHECK(Message(mxc_bind_device_output(executor.handle(), 0, nullptr,
                                         kBytes)) == "");
    executor.SetInput("data", std::span(input));
    executor.Run();
    CHECK(executor.Output<float>(0)[3] == ChainExpected(input).reversed[3]);
    std::vector<float> after(1024);
    reversed[49 % 20].Read(std::span(after));
    CHECK(after == before);
  }
}

TEST_CASE("memory that a device cannot use gets a sentence") {
  const api::Model model = ModelFor("null", ChainArtifact());
  api::Executor executor = BindTo(model, 1);
  mxc_executor* handle = executor.handle();
  std::vector<float> host(1024);
  CHECK(Message(mxc_bind_device_input(handle, "data", host.data(), 4096)) ==
        "the memory for 'data' is not of the executor's device");
  const api::Memory memory(executor, 8192);
  auto* odd = static_cast<std::byte*>(memory.data()) + 4;
  CHECK(Message(mxc_bind_device_output(handle, 0, odd, 4096)) ==
        "the memory for 'reversed' is not aligned to 16 bytes");
  CHECK(Message(mxc_bind_device_output(handle, 0, memory.data(), 8192)) ==
        "'reversed' has 4096 bytes, but 8192 are given");
  CHECK(Message(mxc_bind_device_output(handle, 0, memory.data(), 4096)) == "");
  std::vector<float> much(4096);
  api::Memory little(executor, 16);
  CHECK_THROWS_WITH(little.Write(std::span(much)),
                    "the memory has 16 bytes, but 16384 are given");
}

TEST_CASE("what is not finite is found on the null device") {
  const api::Model model = ModelFor("null", TrainArtifact());
  api::Executor train = BindTo(model, 2, "train");
  Fill(model, train, 1);
  std::vector<float> weight(kWide, 1);
  weight[5] = std::numeric_limits<float>::infinity();
  train.WriteState("weight", std::span(weight));
  const mxc_nonfinite found = train.FindNonFinite();
  REQUIRE(found.tensor != nullptr);
  CHECK(std::string(found.tensor) == "weight");
  std::vector<float> after(kWide);
  train.ReadState("weight", std::span(after));
  CHECK(after == weight);
}

TEST_CASE("a device that there is not gets a sentence") {
  const ModelHandle model =
      Open(WriteTemporary("device", ChainArtifact().File()));
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.device = "abacus";
  mxc_executor* none = nullptr;
  mxc_status* status = mxc_bind(model.get(), &options, &none);
  CHECK(mxc_status_code(status) == MXC_NOT_FOUND);
  CHECK(Message(status) ==
        "device 'abacus' is not supported by this build; there are 'cpu' "
        "and 'cuda'");
}

}  // namespace mxc::test
