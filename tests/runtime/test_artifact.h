// SPDX-License-Identifier: Apache-2.0
// Writes artifacts for the runtime's tests around the kernels of kernels.c. It
// knows runtime/abi and nothing of codegen, which has a writer of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/abi/abi.h"

namespace mxc::test {

enum Kernel : uint32_t {
  kScale,
  kAdd,
  kSum,
  kReverse,
  kAddSmallest,
  kDistance,
  kDescend,
  kCount,
  kCopy,
  kBelow
};
inline constexpr uint32_t kKernelCount = 10;
inline constexpr int64_t kBlock = 16;  // elements of a task

struct TestBuffer {
  std::string name;
  std::vector<int64_t> dims;
  mxc_buffer_kind kind = MXC_BUFFER_INTERNAL;
  uint64_t offset = 0;
  int root = -1;  // itself
  int first_step = -1, last_step = -1;
  uint8_t dtype = 0;  // f32; or 1: f64, 4: i32, 6: i64
  // Of a window.
  uint32_t loop = 0;
  int64_t advance = 0;
  uint32_t period = 0, shift = 0;
  mxc_tensor_role role = MXC_TENSOR_OTHER;
  uint16_t index = 0;  // see mxc_tensor_role
  mxc_place place = MXC_PLACE_DEVICE;
  std::vector<uint32_t> open = {};  // axis, inner, length, of each open axis
};

struct TestState {
  std::string name;
  std::vector<int64_t> dims;
  uint64_t offset = 0;
  uint64_t initial = MXC_ZEROS;
  uint8_t dtype = 0;
  mxc_tensor_role role = MXC_TENSOR_OTHER;
  uint32_t index = 0;  // see mxc_tensor_role
};

struct TestStep {
  std::string name;
  Kernel kernel = kScale;
  std::vector<uint32_t> inputs, outputs;
  int64_t tasks = 1;
  uint64_t scratch_bytes = 0;
  uint64_t flops = 1'000'000'000;
  uint64_t nanoseconds = 10'000'000;  // worth many threads
  uint8_t kind = MXC_STEP_KERNEL;     // mxc_step_kind, or what is none
  uint32_t body = 0, other = 0;
  int64_t turns = 0;
  uint8_t flags = 0;
  std::string attributes = {};
  mxc_place place = MXC_PLACE_DEVICE;
  uint32_t after = 0;  // of a wait
};

TestStep Repeat(uint32_t body, int64_t turns,
                const std::vector<uint32_t>& operands = {}, uint8_t flags = 0);
TestStep Branch(uint32_t condition, uint32_t body, uint32_t other);
TestStep Call(uint32_t import, const std::vector<uint32_t>& inputs,
              const std::vector<uint32_t>& outputs,
              const std::string& attributes = "", uint8_t flags = 0);

TestStep Copy(uint32_t from, uint32_t to);
TestStep Collective(const std::string& operation, int64_t members,
                    const std::vector<uint32_t>& inputs,
                    const std::vector<uint32_t>& outputs);
TestStep Start(uint32_t body);
TestStep Wait(uint32_t after);

struct TestImport {
  std::string name;
  uint32_t version = 1;
};

struct TestEntry {
  std::string name = "infer";
  int64_t batch = 1;
  std::vector<TestBuffer> buffers;
  std::vector<TestStep> steps;
  std::vector<uint32_t> inputs, outputs;
  uint64_t arena_bytes = 0, scratch_bytes = 0;
  mxc_entry_kind kind = MXC_ENTRY_INFER;
  std::vector<uint32_t> carries = {};
  uint32_t index = 0;  // of what it updates
  uint64_t host_arena_bytes = 0;
  int64_t length = 0;  // of open axes
};

struct TestArtifact {
  std::vector<TestEntry> entries;
  std::vector<TestState> states;
  std::vector<TestImport> imports = {};
  uint64_t state_bytes = 0, prepared_bytes = 0;
  std::vector<float> weights;
  std::string manifest = "source: test\n", symbol = "{}";
  uint64_t required_features = 0;
  uint32_t abi_version = MXC_ABI_VERSION;
  std::string kernels = {};  // a shared object; empty: that of kernels.c
  std::string device = {};   // "null": it runs there; empty: on the host

  std::string Tables() const;
  std::string DeviceCode() const;  // empty for the host
  std::string File() const { return FileWith(Tables()); }
  // With other tables, all checksums right.
  std::string FileWith(const std::string& tables) const;
};

// Of the check of its tables; empty: none.
std::string ComplaintAbout(const TestArtifact& artifact);

// The example of runtime/abi/FORMAT.md: data[32] → scale → prob[32].
TestArtifact ExampleArtifact();

// data[1024] → scale → a → add weight → b (over a's half) → reverse → c
// → sum → "sum"[1]; c is the output "reversed", b a view "flat" of itself.
TestArtifact ChainArtifact();
std::vector<float> ChainInput(int seed);
struct ChainResult {
  std::vector<float> reversed;
  float sum = 0;
};
ChainResult ChainExpected(const std::vector<float>& data);

// The same chain, whose "bias" is prepared from the weight by two steps.
TestArtifact PreparedArtifact();

// States: weight[1024], which begins as 64, 65 …, and the number of steps, i64.
//   train: data, learning_rate f64 → loss = |weight - data|² / 2, and a step of
//          weight towards data
//   score: data → loss
TestArtifact TrainArtifact();

// Writes to a file of the test's own and returns its path.
std::string WriteTemporary(const std::string& name, const std::string& bytes);

}  // namespace mxc::test
