// SPDX-License-Identifier: Apache-2.0
// What an artifact says about itself, and which files are refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>

#include "runtime/artifact/tables.h"
#include "runtime/base/cpu.h"
#include "tests/runtime/api.h"
#include "tests/runtime/test_artifact.h"
#include "tests/support/hurtful_values.h"

namespace mxc::test {
namespace {

using runtime::Bytes;
using runtime::Tables;

// Opens what `change` makes of a good artifact.
template <class Change>
std::string RefusalOf(const std::string& name, Change change) {
  TestArtifact artifact = ChainArtifact();
  change(artifact);
  return Refusal(WriteTemporary(name, artifact.File()));
}

}  // namespace

TEST_CASE("a model describes itself") {
  TestArtifact artifact = ChainArtifact();
  TestEntry large = artifact.entries.front();
  large.batch = 8;
  artifact.entries.push_back(large);
  const ModelHandle model = Open(WriteTemporary("describe", artifact.File()));

  CHECK(mxc_model_entry_count(model.get()) == 2);
  mxc_entry_summary entry;
  REQUIRE(Message(mxc_model_entry(model.get(), 0, &entry)) == "");
  CHECK(std::string(entry.name) == "infer");
  CHECK(entry.arena_bytes == 8192);
  CHECK(entry.output_count == 3);
  mxc_tensor tensor;
  REQUIRE(Message(mxc_model_input(model.get(), 0, 0, &tensor)) == "");
  CHECK(std::string(tensor.name) == "data");
  CHECK(tensor.rank == 2);
  CHECK(tensor.dims[1] == 1024);
  CHECK(tensor.bytes == 4096);
  CHECK(std::string(mxc_dtype_name(tensor.dtype)) == "float32");
  mxc_buffer_summary buffer;
  REQUIRE(Message(mxc_model_buffer(model.get(), 0, 4, &buffer)) == "");
  CHECK(buffer.role == MXC_ROLE_ALIAS);
  CHECK(buffer.root == 3);
  mxc_step_summary step;
  REQUIRE(Message(mxc_model_step(model.get(), 0, 1, &step)) == "");
  CHECK(std::string(step.name) == "add");
  CHECK(std::string(step.kernel) == "mxc_test_add");
  CHECK(step.operands[1] == 2);
  CHECK(step.operand_count == 3);
  CHECK(step.input_count == 2);
  CHECK(Message(mxc_model_step(model.get(), 0, 5, &step)) ==
        "no step 5; there are 5");

  CHECK(std::string(mxc_model_manifest(model.get())) == "source: test\n");
  char* symbol = nullptr;
  size_t size = 0;
  REQUIRE(Message(mxc_model_symbol(model.get(), &symbol, &size)) == "");
  CHECK(std::string(symbol) == "{}");
  mxc_free(symbol);
  CHECK(Message(mxc_model_verify(model.get())) == "");

  size_t found = 0;
  CHECK(Message(mxc_model_find_entry(model.get(), nullptr, 8, &found)) == "");
  CHECK(found == 1);
  CHECK(Message(mxc_model_find_entry(model.get(), "infer", 3, &found)) ==
        "no entry 'infer' for batch 3; the model has infer (batch 1), infer "
        "(batch 8)");
}

TEST_CASE("files that are no artifacts are refused") {
  mxc_code code;
  CHECK(Contains(Refusal("/nowhere/x.mxa", &code), "cannot open"));
  CHECK(code == MXC_NOT_FOUND);
  CHECK(Contains(Refusal("/tmp"), "is a folder, expected a file"));
  CHECK(Contains(Refusal(WriteTemporary("empty", ""), &code), "too short"));
  CHECK(code == MXC_CORRUPT);
  CHECK(Contains(Refusal(WriteTemporary("text", std::string(5000, 'x'))),
                 "no artifact, or its end is missing"));
  CHECK(Contains(Refusal(WriteTemporary("network", "{\"mxc\": 1}")),
                 "a network, expected a compiled one"));
}

TEST_CASE("a wrong version, processor or code is refused") {
  CHECK(Contains(RefusalOf("version", [](auto& a) { a.abi_version = 99; }),
                 "format version 99, this runtime reads version " +
                     std::to_string(MXC_ABI_VERSION)));
  const std::string features = RefusalOf(
      "features", [](auto& a) { a.required_features = uint64_t{1} << 40; });
  CHECK(Contains(features, "which this processor does not have"));
  if (!(runtime::CpuFeatures() & MXC_CPU_AVX512)) {
    CHECK(Contains(
        RefusalOf("avx512",
                  [](auto& a) { a.required_features = MXC_CPU_AVX512; }),
        "needs AVX-512, which this processor does not have (it"));
  }

  // The code of one file with the tables of another.
  TestArtifact artifact = ChainArtifact();
  std::string code_of = artifact.File();
  artifact.entries.front().batch = 7;
  std::string tables_of = artifact.File();
  mxc_trailer trailer;
  std::memcpy(&trailer, code_of.data() + code_of.size() - sizeof trailer,
              sizeof trailer);
  const uint64_t code_size = trailer.sections[MXC_SECTION_CODE].size;
  std::string mixed =
      code_of.substr(0, code_size) + tables_of.substr(code_size);
  CHECK(Contains(Refusal(WriteTemporary("mixed", mixed)),
                 "the code section has changed"));
}

TEST_CASE("a file is not mistaken for another that is open") {
  TestArtifact artifact = ChainArtifact();
  const std::string path = WriteTemporary("same", artifact.File());
  const ModelHandle first = Open(path);
  // The descriptor of the second is free again for another file.
  Open(path);
  for (int64_t batch = 10; batch < 20; ++batch) {
    artifact.entries.front().batch = batch;
    const ModelHandle next = Open(WriteTemporary("same", artifact.File()));
    mxc_entry_summary entry;
    REQUIRE(Message(mxc_model_entry(next.get(), 0, &entry)) == "");
    CHECK(entry.batch == batch);
  }
}

namespace {

std::vector<float> OutputOf(mxc_model* model) {
  const ExecutorHandle executor = Bind(model, 1);
  std::vector<float> input(1024);
  std::iota(input.begin(), input.end(), 1.0f);
  SetInput(executor.get(), input);
  REQUIRE(Message(mxc_run(executor.get())) == "");
  return Output(executor.get(), 0);
}

}  // namespace

TEST_CASE("a file's bytes in memory are a model, whatever becomes of them") {
  const std::string file = ChainArtifact().File();
  const ModelHandle named = Open(WriteTemporary("named", file));
  // At an odd address, and gone before it runs.
  std::string bytes = "x" + file;
  mxc_model* opened = nullptr;
  REQUIRE(Message(mxc_model_open_memory(bytes.data() + 1, file.size(), nullptr,
                                        nullptr, &opened)) == "");
  const ModelHandle model(opened);
  std::ranges::fill(bytes, '\0');
  CHECK(Message(mxc_model_verify(model.get())) == "");
  CHECK(OutputOf(model.get()) == OutputOf(named.get()));
}

TEST_CASE("damaged bytes in memory are refused by the name they are given") {
  const std::string file = ChainArtifact().File();
  mxc_model* model = nullptr;
  CHECK(Message(mxc_model_open_memory(file.data(), file.size() - 1, "the reply",
                                      nullptr, &model))
            .starts_with("the reply: no artifact, or its end is missing"));
  CHECK(Message(mxc_model_open_memory(file.data(), 0, nullptr, nullptr, &model))
            .starts_with("the artifact in memory: too short"));
}

TEST_CASE("a caller sees the whole file before it is opened, and may refuse") {
  const std::string file = ChainArtifact().File();
  const std::string path = WriteTemporary("approve", file);
  struct Caller {
    std::string seen;
    const char* answer = nullptr;
  } caller;
  mxc_model_options options = MXC_MODEL_OPTIONS;
  options.approve = [](void* context, const void* bytes, size_t size) {
    auto* self = static_cast<Caller*>(context);
    self->seen.assign(static_cast<const char*>(bytes), size);
    return self->answer;
  };
  options.approve_context = &caller;
  mxc_model* model = nullptr;
  REQUIRE(Message(mxc_model_open(path.c_str(), &options, &model)) == "");
  mxc_model_close(model);
  CHECK(caller.seen == file);
  caller.answer = "not from here";
  CHECK(Message(mxc_model_open(path.c_str(), &options, &model)) ==
        path + ": not from here");
}

TEST_CASE("damaged weights are found on demand, or when it is opened") {
  std::string file = ChainArtifact().File();
  mxc_trailer trailer;
  std::memcpy(&trailer, file.data() + file.size() - sizeof trailer,
              sizeof trailer);
  file[trailer.sections[MXC_SECTION_WEIGHTS].offset + 100] ^= 1;
  const ModelHandle model = Open(WriteTemporary("weights", file));
  CHECK(Contains(Message(mxc_model_verify(model.get())),
                 "the weights section has changed"));
  mxc_model_options options = MXC_MODEL_OPTIONS;
  options.weights = MXC_WEIGHTS_COPY;
  options.check_weights = 1;
  mxc_model* checked = nullptr;
  mxc_status* refused = mxc_model_open(WriteTemporary("weights", file).c_str(),
                                       &options, &checked);
  CHECK(mxc_status_code(refused) == MXC_CORRUPT);
  CHECK(Contains(Message(refused), "the weights section has changed"));
}

TEST_CASE("a cut file is refused at every length") {
  const std::string file = ChainArtifact().File();
  for (size_t size = 0; size < file.size();
       size += size < file.size() - 300 ? 61 : 1) {
    CAPTURE(size);
    CHECK(Refusal(WriteTemporary("cut", file.substr(0, size))) != "");
  }
}

TEST_CASE("random damage never crashes and is refused where it matters") {
  const std::string file = ChainArtifact().File();
  mxc_trailer trailer;
  std::memcpy(&trailer, file.data() + file.size() - sizeof trailer,
              sizeof trailer);
  const auto section = [&](mxc_section_kind kind, size_t place) {
    const mxc_section& s = trailer.sections[kind];
    return place >= s.offset && place < s.offset + s.size;
  };
  std::mt19937 random(3);
  for (int seed = 0; seed < 1500; ++seed) {
    std::string damaged = file;
    const size_t place = random() % file.size();
    damaged[place] = static_cast<char>(damaged[place] ^ (1 + random() % 255));
    const bool must_refuse = section(MXC_SECTION_CODE, place) ||
                             section(MXC_SECTION_TABLES, place) ||
                             section(MXC_SECTION_MANIFEST, place) ||
                             place >= file.size() - sizeof trailer;
    CAPTURE(place);
    CHECK((Refusal(WriteTemporary("damage", damaged)) != "") == must_refuse);
  }
}

TEST_CASE("crafted tables never crash: checksums right, contents random") {
  TestArtifact artifact = PreparedArtifact();
  artifact.entries.insert(artifact.entries.begin(), artifact.entries.front());
  const std::string tables = artifact.Tables();
  const auto weight_bytes = artifact.weights.size() * sizeof(float);
  std::mt19937_64 random(5);
  int good = 0;
  for (int seed = 0; seed < 30000; ++seed) {
    std::string crafted = tables;
    for (uint64_t n = 1 + random() % 3; n > 0; --n) {
      const uint64_t value =
          kHurtfulValues[random() % std::size(kHurtfulValues)];
      const size_t size = random() % 2 ? 4 : 8;
      const size_t place = random() % (crafted.size() / size) * size;
      std::memcpy(crafted.data() + place, &value,
                  std::min(size, crafted.size() - place));
    }
    good += Tables::Parse(std::as_bytes(std::span(crafted)), weight_bytes).ok();
    if (seed % 50 != 0) continue;
    const std::string path =
        WriteTemporary("craft", artifact.FileWith(crafted));
    mxc_model* model = nullptr;
    mxc_executor* executor = nullptr;
    if (Message(mxc_model_open(path.c_str(), nullptr, &model)) != "") continue;
    const ModelHandle handle(model);
    mxc_bind_options options = MXC_BIND_OPTIONS;
    options.threads = 1;
    Message(mxc_bind(model, &options, &executor));
    mxc_executor_close(executor);
  }
  CHECK(good > 0);  // not everything in the tables is a matter of safety
  CHECK(good < 15000);
}

TEST_CASE("every rule of the tables is enforced") {
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = ChainArtifact();
    change(artifact.entries.front());
    CHECK(ComplaintAbout(artifact) == message);
  };
  check("entry 0, step 0: no such operand",
        [](TestEntry& e) { e.steps[0].inputs = {7}; });
  check("entry 0, step 1: writes to an input or a weight",
        [](TestEntry& e) { e.steps[1].outputs = {2}; });
  check("entry 0, step 1: its field 'tasks' is impossible",
        [](TestEntry& e) { e.steps[1].tasks = -1; });
  check("entry 0, step 1: no such kernel",
        [](TestEntry& e) { e.steps[1].kernel = Kernel(kKernelCount); });
  check("entry 0, step 3: more scratch than its entry has",
        [](TestEntry& e) { e.steps[3].scratch_bytes = 65; });
  check("entry 0, buffer 3: leaves the arena",
        [](TestEntry& e) { e.buffers[3].offset = 4096 + 64; });
  check("entry 0, buffer 3: its field 'offset' is impossible",
        [](TestEntry& e) { e.buffers[3].offset = ~uint64_t{63}; });
  check("entry 0, buffer 2: leaves the weights",
        [](TestEntry& e) { e.buffers[2].offset = 320; });
  check("entry 0, buffer 2: not aligned",
        [](TestEntry& e) { e.buffers[2].offset = 4; });
  check("entry 0, buffer 4: its root is no buffer with bytes of its own",
        [](TestEntry& e) { e.buffers[4].root = 4; });
  check("entry 0, buffer 4: does not lie within its root",
        [](TestEntry& e) { e.buffers[4].offset = 4; });
  const auto open = [](uint64_t axis, int64_t inner, int64_t length) {
    return [=](TestEntry& e) {
      e.length = length;
      e.buffers[0].offset = 1 + axis;
      e.buffers[0].advance = inner;
    };
  };
  check("entry 0, buffer 0: open along an axis of no length", open(1, 1, 1024));
  check("entry 0, buffer 0: open along an axis that it has not",
        open(2, 1, 1024));
  check("entry 0, buffer 0: a length that is no input of one i32",
        [](TestEntry& e) { e.buffers[0].role = MXC_TENSOR_LENGTH; });
  check("entry 0, buffer 1: its root is another buffer",
        [](TestEntry& e) { e.buffers[1].root = 3; });
  check("entry 0, buffer 1: its live range leaves the steps",
        [](TestEntry& e) { e.buffers[1].last_step = 5; });
  check("entry 0, buffer 1: its live range leaves the steps",
        [](TestEntry& e) { e.buffers[1].first_step = 2; });
  check("entry 0, buffer 1: its field 'dims' is impossible",
        [](TestEntry& e) { e.buffers[1].dims = {-4}; });
  check("entry 0, buffer 1: smaller than its shape",
        [](TestEntry& e) { e.buffers[1].dims = {1 << 30, 1 << 30, 8}; });
  check("entry 0: its inputs are not its input buffers",
        [](TestEntry& e) { e.inputs = {0, 0}; });
  check("entry 0: its inputs are not its input buffers",
        [](TestEntry& e) { e.inputs = {1}; });
  check("entry 0: an input buffer is not among its inputs",
        [](TestEntry& e) { e.inputs = {}; });
  check("entry 0: an output is no dense buffer",
        [](TestEntry& e) { e.outputs = {9}; });
  check("entry 0: has the number of what it does not update",
        [](TestEntry& e) { e.index = 1; });
  check("entry 0: its field 'batch' is impossible",
        [](TestEntry& e) { e.batch = -1; });
}

TEST_CASE("every rule of prepared weights is enforced") {
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = PreparedArtifact();
    change(artifact);
    CHECK(ComplaintAbout(artifact) == message);
  };
  check("", [](TestArtifact&) {});
  check("entry 0, buffer 2: leaves the prepared region",
        [](TestArtifact& a) { a.entries[0].buffers[2].offset = 8192; });
  check("entry 0, buffer 2: not aligned",
        [](TestArtifact& a) { a.entries[0].buffers[2].offset = 4; });
  check("entry 0, step 1: writes to an input or a weight",
        [](TestArtifact& a) { a.entries[0].steps[1].outputs = {2}; });
  check("entry 1: does not write the prepared region",
        [](TestArtifact& a) { a.prepared_bytes = 16384; });
  check("entry 0, buffer 2: leaves the prepared region",
        [](TestArtifact& a) { a.prepared_bytes = 0; });
  check("entry 1: needs more than weights to prepare weights",
        [](TestArtifact& a) {
          a.entries[1].buffers[1].kind = MXC_BUFFER_PREPARED;
          a.entries[1].steps.clear();
        });
  check("entry 0: does not write the prepared region", [](TestArtifact& a) {
    a.entries.pop_back();
    a.entries[0].arena_bytes = 8192;
  });
}

TEST_CASE("every rule of the states is enforced") {
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = TrainArtifact();
    change(artifact);
    CHECK(ComplaintAbout(artifact) == message);
  };
  check("", [](TestArtifact&) {});
  check("state 1: its name is another state's",
        [](TestArtifact& a) { a.states[1].name = "weight"; });
  check("state 0: its field 'dtype' is unknown",
        [](TestArtifact& a) { a.states[0].dtype = 99; });
  check("state 0: its field 'dims' is impossible",
        [](TestArtifact& a) { a.states[0].dims = {-1024}; });
  check("state 0: is not dense",
        [](TestArtifact& a) { a.states[0].dims = {1 << 30, 1 << 30, 8}; });
  check("state 1: not aligned",
        [](TestArtifact& a) { a.states[1].offset = 4104; });
  check("state 1: lies over the state before it",
        [](TestArtifact& a) { a.states[1].offset = 4032; });
  check("state 1: leaves the state region",
        [](TestArtifact& a) { a.states[1].offset = 8192; });
  check("state 0: its initial value is not aligned",
        [](TestArtifact& a) { a.states[0].initial = 8; });
  check("state 0: its initial value leaves the weights",
        [](TestArtifact& a) { a.states[0].initial = 320; });
  check("entry 0, buffer 2: no such state",
        [](TestArtifact& a) { a.entries[0].buffers[2].offset = 2; });
  check("entry 1, buffer 1: is not of its state's type",
        [](TestArtifact& a) { a.entries[1].buffers[1].dims = {32, 32}; });
  check("entry 0: two buffers are one state", [](TestArtifact& a) {
    a.entries[0].buffers.push_back({"again", {1024}, MXC_BUFFER_STATE, 0});
  });
}

}  // namespace mxc::test
