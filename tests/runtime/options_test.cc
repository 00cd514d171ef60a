// SPDX-License-Identifier: Apache-2.0
// What lets the C API grow: options that say their size, versions, mapped
// memory.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/mxc.hpp"
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
        "options of a struct_size of 0; initialize them with "
        "MXC_MODEL_OPTIONS or MXC_BIND_OPTIONS");
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

}  // namespace mxc::test
