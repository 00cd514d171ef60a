// SPDX-License-Identifier: Apache-2.0
// Buffers on the host and on a device, copies between them, and what runs beside
// other steps.
#include <doctest/doctest.h>

#include <cstring>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/tables.h"
#include "runtime/device/device.h"
#include "runtime/device/images.h"
#include "tests/runtime/api.h"
#include "tests/runtime/block_artifacts.h"

namespace mxc::test {
namespace {

// out = in reversed; 12 where it begins with 12.
int Mirror(const mxc_call* call) {
  const auto* from = static_cast<const float*>(call->data[0]);
  auto* to = static_cast<float*>(call->data[1]);
  for (int64_t i = 0; i < kWide; ++i) to[i] = from[kWide - 1 - i];
  return from[0] == 25 ? 12 : 0;
}

TestArtifact Travel(const std::string& device) {
  static const std::string message =
      Message(mxc_register_function("mxc_test_mirror", 1, &Mirror, nullptr));
  CHECK(message == "");
  TestArtifact artifact = TravelArtifact();
  artifact.device = device;
  return artifact;
}

std::vector<float> TravelExpected(const std::vector<float>& data) {
  std::vector<float> result(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    const float bias = 0.25f * static_cast<float>(64 + i);
    result[i] = 2 * data[i] + 1 + bias + (2 * data[data.size() - 1 - i] + 1);
  }
  return result;
}

std::unique_ptr<runtime::Stream> OpenNullStream() {
  const auto device = runtime::FindDevice("null");
  REQUIRE(device.ok());
  auto stream = (*device)->OpenStream(2, nullptr);
  REQUIRE(stream.ok());
  return std::move(*stream);
}

}  // namespace

TEST_CASE("a function of the host between kernels of a device") {
  for (const char* device : {"", "null"}) {
    CAPTURE(device);
    const ModelHandle model =
        Open(WriteTemporary("travel", Travel(device).File()));
    for (const bool profile : {false, true}) {
      const ExecutorHandle executor = Bind(model.get(), 3, profile);
      for (int seed = 0; seed < 10; ++seed) {
        std::vector<float> data = ChainInput(seed + 20);
        SetInput(executor.get(), data);
        REQUIRE(Message(mxc_run(executor.get())) == "");
        CHECK(Output(executor.get(), 0) == TravelExpected(data));
      }
    }
  }
}

TEST_CASE("a function that fails ends a run on a device with its number") {
  const ModelHandle model =
      Open(WriteTemporary("travel", Travel("null").File()));
  const ExecutorHandle executor = Bind(model.get(), 1);
  std::vector<float> data = ChainInput(3);
  for (const bool fails : {false, true, false}) {
    data[0] = fails ? 12 : 11;
    SetInput(executor.get(), data);
    CHECK(Message(mxc_run(executor.get())) ==
          (fails ? "step 'call': version 1 of function 'mxc_test_mirror' has "
                   "failed with 12"
                 : ""));
    if (!fails) CHECK(Output(executor.get(), 0) == TravelExpected(data));
  }
}

TEST_CASE("a run begins and is waited for") {
  for (const char* device : {"", "null"}) {
    CAPTURE(device);
    const ModelHandle model =
        Open(WriteTemporary("travel", Travel(device).File()));
    const ExecutorHandle executor = Bind(model.get(), 2);
    mxc_executor* e = executor.get();
    CHECK(Message(mxc_wait(e)) == "no run has begun");
    std::vector<float> data = ChainInput(7), result(data.size());
    const size_t bytes = data.size() * sizeof(float);
    SetInput(e, data);
    for (int run = 0; run < 3; ++run) {
      REQUIRE(Message(mxc_run_async(e)) == "");
      mxc_status* status = mxc_run(e);
      CHECK(mxc_status_code(status) == MXC_BUSY);
      mxc_status_release(status);
      CHECK(Message(mxc_set_input(e, "data", data.data(), bytes)) ==
            "a run is going on; wait for it");
      CHECK(Message(mxc_read_output(e, 0, result.data(), bytes)) ==
            "a run is going on; wait for it");
      REQUIRE(Message(mxc_wait(e)) == "");
      CHECK(Output(e, 0) == TravelExpected(data));
    }
    data[0] = 12;
    SetInput(e, data);
    CHECK(Message(mxc_run_async(e)) == "");
    CHECK(Contains(Message(mxc_wait(e)), "has failed with 12"));
    REQUIRE(Message(mxc_run_async(e)) == "");
  }  // and is closed
}

TEST_CASE("every rule of places, copies, starts and waits is enforced") {
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = Travel("null");
    change(artifact.entries.front());
    CHECK(ComplaintAbout(artifact) == message);
  };
  check("", [](TestEntry&) {});
  check("entry 0, buffer 2: its field 'place' is unknown",
        [](TestEntry& e) { e.buffers[2].place = MXC_PLACE_COUNT; });
  check("entry 0, buffer 3: leaves the host's arena",
        [](TestEntry& e) { e.host_arena_bytes = 8191; });
  check(
      "entry 0, buffer 0: lies on the host and is no weight or internal "
      "buffer",
      [](TestEntry& e) { e.buffers[0].place = MXC_PLACE_HOST; });
  check("entry 0, buffer 10: lies in another place than its root",
        [](TestEntry& e) {
          e.buffers.push_back({"alias", {kWide}, MXC_BUFFER_ALIAS, 0, 2});
        });
  check("entry 0, step 0: an operand lies in another place",
        [](TestEntry& e) { e.steps[0].outputs = {2}; });
  check("entry 0, step 0: unknown place",
        [](TestEntry& e) { e.steps[0].place = MXC_PLACE_HOST; });
  check("entry 0, step 6: calls a function of the host on a device",
        [](TestEntry& e) { e.steps[6].place = MXC_PLACE_DEVICE; });
  check("entry 0, step 6: an operand lies in another place",
        [](TestEntry& e) { e.steps[6].inputs = {1}; });
  check("entry 0, step 7: a copy that is not of one buffer to another",
        [](TestEntry& e) { e.steps[7].inputs = {3, 2}; });
  check("entry 0, step 7: a copy between buffers of other sizes or with gaps",
        [](TestEntry& e) { e.buffers[6].dims = {kWide - 1}; });
  check("entry 0, step 7: a copy with tasks, flags or a block of steps",
        [](TestEntry& e) { e.steps[7].tasks = 1; });
  check("entry 0, step 7: writes to an input or a weight",
        [](TestEntry& e) { e.steps[7].outputs = {8}; });
  check("entry 0, step 1: its block leaves the one around it",
        [](TestEntry& e) { e.steps[1].body = 8; });
  check("entry 0, step 1: a start without steps, or with more than steps",
        [](TestEntry& e) { e.steps[1].body = 0; });
  check("entry 0, step 1: starts other steps than kernels and copies",
        [](TestEntry& e) {
          e.steps[1].body = 6;
          e.steps[5] = Copy(1, 5);
          e.steps[8] = Wait(1);
        });
  check("entry 0, step 5: waits for no start of its block",
        [](TestEntry& e) { e.steps[5].after = 0; });
  check("entry 0, step 5: waits for no start of its block",
        [](TestEntry& e) { e.steps[5].after = 5; });
  check("entry 0, step 5: waits for no start of its block",
        [](TestEntry& e) { e.steps[1].body = 4; });
  check("entry 0, step 1: is not waited for once in its block",
        [](TestEntry& e) { e.steps[5] = Copy(1, 5); });
  check("entry 0, step 1: is not waited for once in its block",
        [](TestEntry& e) { e.steps[4] = Wait(1); });
  check("entry 0, step 5: a wait with tasks, flags or a block of steps",
        [](TestEntry& e) { e.steps[5].flags = 1; });
}

TEST_CASE("a device's kernel is launched with a grid") {
  TestArtifact artifact = Travel("null");
  std::string bytes = artifact.Tables();
  const mxc_tables& header = *reinterpret_cast<mxc_tables*>(bytes.data());
  auto* steps = reinterpret_cast<mxc_step*>(&bytes[header.steps_offset]);
  steps[4].launch.block[1] = 0;
  CHECK(runtime::Tables::Parse(std::as_bytes(std::span(bytes)), 8192)
            .status()
            .message() ==
        "entry 0, step 4: is launched without a grid or a block");
}

TEST_CASE("a model runs on the device that it was compiled for") {
  const ModelHandle model =
      Open(WriteTemporary("travel", Travel("null").File()));
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.device = "cpu";
  mxc_executor* none = nullptr;
  mxc_status* status = mxc_bind(model.get(), &options, &none);
  CHECK(mxc_status_code(status) == MXC_INVALID_ARGUMENT);
  CHECK(Message(status) ==
        "the model was compiled for device 'null' and does not run on 'cpu'");
  TestArtifact other = Travel("abacus");
  const ModelHandle unknown = Open(WriteTemporary("travel", other.File()));
  CHECK(Message(mxc_bind(unknown.get(), nullptr, &none)) ==
        "device 'abacus' is not supported by this build; there are 'cpu' "
        "and 'cuda'");
}

TEST_CASE("damaged code for a device is refused") {
  const std::string good = Travel("null").DeviceCode();
  const auto complaint = [](const std::string& code) {
    return runtime::ReadDeviceCode(std::as_bytes(std::span(code)))
        .status()
        .message();
  };
  CHECK(complaint(good) == "");
  for (size_t size = 0; size < good.size(); ++size) {
    CHECK(complaint(good.substr(0, size)) != "");
  }
  std::string code = good;
  code[0] = 99;
  CHECK(complaint(code) ==
        "damaged: its code for the device is of another version");
  code = good;
  code[4] = 2;
  CHECK(complaint(code) != "");
  code = good;
  code[sizeof(mxc_device_code)] = MXC_IMAGE_KIND_COUNT;
  CHECK(complaint(code) ==
        "damaged: its code for the device leaves its "
        "section or is of an unknown kind");
  code = good;
  code.back() = 'x';
  CHECK(complaint(code) == "damaged: its code for the device has no end");
}

TEST_CASE("what a stream began beside does not hold up the rest") {
  const auto stream = OpenNullStream();
  std::promise<void> later;
  std::vector<int> order;
  const auto note = [&](int what) {
    return [&order, what] { order.push_back(what); };
  };
  stream->Call(note(1));
  stream->BeginBeside(1);
  // Would wait for ever if it ran before what follows.
  stream->Call([&] {
    later.get_future().wait();
    order.push_back(3);
  });
  stream->EndBeside();
  stream->Call(note(2));
  stream->Call([&] { later.set_value(); });
  stream->WaitFor(1);
  stream->Call(note(4));
  CHECK(stream->Finish().ok());
  CHECK(order == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("a recording is done each time that it is replayed") {
  const auto stream = OpenNullStream();
  int count = 0, seen = 0;
  stream->BeginRecord();
  stream->BeginBeside(0);
  stream->Call([&] { ++count; });
  stream->EndBeside();
  stream->WaitFor(0);
  stream->Copy(MXC_PLACE_HOST, &seen, MXC_PLACE_HOST, &count, sizeof count);
  const auto recording = stream->EndRecord();
  REQUIRE(recording.ok());
  CHECK(stream->Finish().ok());
  CHECK(count == 0);
  for (int i = 1; i <= 3; ++i) {
    stream->Replay(**recording);
    CHECK(stream->Finish().ok());
    CHECK(count == i);
    CHECK(seen == i);
  }
}

}  // namespace mxc::test
