// SPDX-License-Identifier: Apache-2.0
// Artifacts whose tables are as their format allows, and as no compiler makes
// them: what inspect takes for them stays in proportion to the file. Each of
// them took minutes or tens of gigabytes where something grew with the square
// of its rows.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/artifact/tables.h"
#include "tests/runtime/test_artifact.h"
#include "tests/support/temporary_folder.h"

namespace mxc::test {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// Of processor time and of resident memory.
constexpr rlim_t kSeconds = kSanitized ? 240 : 30;
constexpr long kMebibytes = kSanitized ? 8192 : 1536;

// Ends with 0 or 1 within the limits.
void Inspect(const std::string& path, std::vector<const char*> options,
             int expected = 0) {
  std::vector<const char*> arguments = {MXC_BIN, "inspect", path.c_str()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit = {kSeconds, kSeconds};
    setrlimit(RLIMIT_CPU, &limit);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    if (expected != 0) dup2(nowhere, STDERR_FILENO);
    execv(MXC_BIN, const_cast<char* const*>(arguments.data()));
    _exit(127);
  }
  int status = 0;
  rusage used{};
  REQUIRE(wait4(child, &status, 0, &used) == child);
  CAPTURE(status);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == expected);
  CHECK(used.ru_maxrss < kMebibytes * 1024);
}

struct Page {
  TemporaryFolder folder{"crafted"};
  std::string path = folder.File("page.html");
};

TestBuffer Input() {
  TestBuffer input;
  input.name = "data";
  input.dims = {1};
  input.kind = MXC_BUFFER_INPUT;
  return input;
}

// An input that nobody reads, and nothing else.
TestEntry NewEntry(uint64_t arena_bytes) {
  TestEntry entry;
  entry.arena_bytes = arena_bytes;
  entry.buffers.push_back(Input());
  entry.inputs = {0};
  return entry;
}

TestBuffer Buffer(std::string name, int64_t elements) {
  TestBuffer buffer;
  buffer.name = std::move(name);
  buffer.dims = {elements};
  return buffer;
}

TestStep Step(std::string name, std::vector<uint32_t> inputs,
              std::vector<uint32_t> outputs) {
  TestStep step;
  step.name = std::move(name);
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  return step;
}

TestArtifact OneEntry(TestEntry entry) {
  TestArtifact artifact;
  artifact.entries.push_back(std::move(entry));
  return artifact;
}

// A file whose rows of buffers name the last `length` bytes of the strings.
std::string FileWithSharedName(const TestArtifact& artifact, size_t length) {
  std::string tables = artifact.Tables();
  mxc_tables header;
  std::memcpy(&header, tables.data(), sizeof header);
  // The strings stand last.
  mxc_string name = {static_cast<uint32_t>(header.string_bytes),
                     static_cast<uint32_t>(length)};
  tables += std::string(length, 'n') + '\0';
  header.string_bytes += length + 1;
  std::memcpy(tables.data(), &header, sizeof header);
  for (uint64_t i = 0; i < header.buffer_count; ++i) {
    std::memcpy(tables.data() + header.buffers_offset + i * sizeof(mxc_buffer) +
                    offsetof(mxc_buffer, name),
                &name, sizeof name);
  }
  return artifact.FileWith(tables);
}

}  // namespace

TEST_CASE("crafted tables: all buffers on the same bytes") {
  TestEntry entry = NewEntry(64);
  for (int i = 0; i < 20000; ++i) {
    entry.buffers.push_back(Buffer("b" + std::to_string(i), 16));
  }
  const std::string path =
      WriteTemporary("overlap.mxa", OneEntry(std::move(entry)).File());
  const Page page;
  Inspect(path, {"--memory"});
  Inspect(path, {"--memory", "--json"});
  Inspect(path, {"--html", page.path.c_str()});
}

TEST_CASE("crafted tables: gradients and rows of many states") {
  constexpr int kStates = 8000;
  TestArtifact artifact;
  TestEntry entry;
  entry.name = "grad";
  entry.kind = MXC_ENTRY_GRAD;
  for (int i = 0; i < kStates; ++i) {
    const std::string name = "w" + std::to_string(i);
    artifact.states.push_back(
        {name, {16}, static_cast<uint64_t>(i) * 64, MXC_ZEROS});
    artifact.states.back().role = MXC_TENSOR_PARAMETER;
    artifact.states.back().index = static_cast<uint32_t>(i);
    for (const auto& [prefix, role] : {std::pair("grad:", MXC_TENSOR_GRADIENT),
                                       std::pair("rows:", MXC_TENSOR_ROWS)}) {
      entry.outputs.push_back(static_cast<uint32_t>(entry.buffers.size()));
      entry.buffers.push_back(Buffer(prefix + name, 16));
      entry.buffers.back().kind = MXC_BUFFER_OUTPUT;
      entry.buffers.back().role = role;
      entry.buffers.back().index = static_cast<uint16_t>(i);
    }
  }
  artifact.state_bytes = uint64_t{kStates} * 64;
  artifact.entries.push_back(std::move(entry));
  const std::string path = WriteTemporary("grad.mxa", artifact.File());
  Inspect(path, {"--communication"});
}

TEST_CASE("crafted tables: one long name for every row") {
  constexpr int kBuffers = 5000;
  TestEntry entry = NewEntry(64);
  std::vector<uint32_t> all = {0};
  for (int i = 1; i < kBuffers; ++i) {
    entry.buffers.push_back(Buffer("", 16));
    all.push_back(static_cast<uint32_t>(i));
  }
  // Each operand is shown by its buffer's name.
  for (int i = 0; i < 20; ++i) {
    entry.steps.push_back(Step("s" + std::to_string(i), all, {}));
  }
  const TestArtifact artifact = OneEntry(std::move(entry));
  const std::string small =
      WriteTemporary("small.mxa", FileWithSharedName(artifact, 32 * 1024));
  const Page page;
  Inspect(small, {"--steps", "--memory", "--json"});
  Inspect(small, {"--html", page.path.c_str()});
  // Beyond what strings may have in all.
  const std::string large = WriteTemporary(
      "large.mxa", FileWithSharedName(artifact, 8 * 1024 * 1024));
  Inspect(large, {"--steps"}, 1);
}

TEST_CASE("crafted tables: loops within loops") {
  constexpr uint32_t kLoops = 3000;
  TestEntry entry = NewEntry(64);
  entry.buffers.push_back(Buffer("b", 16));
  for (uint32_t i = 0; i < kLoops; ++i) {
    entry.steps.push_back(Repeat(kLoops - i, 1));
  }
  entry.steps.push_back(Step("inner", {1}, {1}));
  const TestArtifact artifact = OneEntry(std::move(entry));
  CHECK(ComplaintAbout(artifact).find("is nested too deep") !=
        std::string::npos);
}

TEST_CASE("crafted tables: weights that lie over each other") {
  TestArtifact artifact;
  artifact.weights.assign(size_t{4} << 20, 1.0f);
  TestEntry entry = NewEntry(0);
  for (int i = 0; i < 4000; ++i) {
    entry.buffers.push_back(
        Buffer("w" + std::to_string(i), (4 << 20) - 16 * i));
    entry.buffers.back().kind = MXC_BUFFER_WEIGHT;
  }
  artifact.entries.push_back(std::move(entry));
  const std::string path = WriteTemporary("weights.mxa", artifact.File());
  const Page page;
  Inspect(path, {"--html", page.path.c_str()});
}

TEST_CASE("crafted tables: a buffer of many parts that is read often") {
  constexpr int kParts = 4000;
  TestEntry entry = NewEntry(uint64_t{kParts} * 64);
  entry.buffers.push_back(Buffer("whole", kParts * 16));
  for (int i = 0; i < kParts; ++i) {
    const auto part = static_cast<uint32_t>(entry.buffers.size());
    entry.buffers.push_back(Buffer("part" + std::to_string(i), 16));
    entry.buffers.back().kind = MXC_BUFFER_ALIAS;
    entry.buffers.back().offset = static_cast<uint64_t>(i) * 64;
    entry.buffers.back().root = 1;
    entry.steps.push_back(Step("write" + std::to_string(i), {0}, {part}));
  }
  for (int i = 0; i < kParts; ++i) {
    entry.steps.push_back(Step("read" + std::to_string(i), {1}, {2}));
  }
  const std::string path =
      WriteTemporary("parts.mxa", OneEntry(std::move(entry)).File());
  const Page page;
  Inspect(path, {"--html", page.path.c_str()});
}

TEST_CASE("crafted tables: many entries beside a long manifest") {
  TestArtifact artifact;
  for (int i = 0; i < 40000; ++i) {
    TestEntry entry = NewEntry(0);
    entry.name = "e" + std::to_string(i);
    artifact.entries.push_back(std::move(entry));
  }
  artifact.manifest = "source: " + std::string(size_t{8} << 20, 'm') + "\n";
  const std::string path = WriteTemporary("entries.mxa", artifact.File());
  Inspect(path, {"--memory"});
}

}  // namespace mxc::test
