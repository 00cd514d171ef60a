// SPDX-License-Identifier: Apache-2.0
// Kernels that were compiled before are found again: the same bytes, sooner.
#include "codegen/cache/object_cache.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/add_buffer.h"
#include "ir/program/steps/map.h"
#include "tests/support/temporary_folder.h"

namespace mxc::test {
namespace {

namespace fs = std::filesystem;

// x → |x| → its square root.
Program TwoSteps(const std::string& name) {
  Program program;
  program.name = name;
  program.entry.purpose = Purpose::kInfer;
  for (const BufferKind kind :
       {BufferKind::kInput, BufferKind::kInternal, BufferKind::kOutput}) {
    AddBuffer(program, "", {DType::kF32, Shape{6, 50}}, kind);
  }
  const Expr own = Load(0, DType::kF32, {Var(0), Var(1)});
  for (const Expr& value : {Abs(own), Sqrt(own)}) {
    const int from = static_cast<int>(program.steps.size());
    Step step;
    step.name = name + "_step";
    step.inputs = {from};
    step.outputs = {from + 1};
    step.body = Map{{{0, {0, 0}, {6, 50}, value}}};
    program.steps.push_back(step);
  }
  return program;
}

CodeImage Compile(const Program& program, ObjectCache* cache,
                  const char* target = "x86-64-v3") {
  const auto image =
      GenerateCode({&program, 1}, *ResolveTarget(target), {.cache = cache});
  REQUIRE(image.ok());
  return *image;
}

std::vector<fs::path> FilesIn(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder)) {
    files.push_back(file.path());
  }
  return files;
}

}  // namespace

TEST_CASE("object cache: what was compiled is found, with the same bytes") {
  const TemporaryFolder folder("objects");
  const std::string objects = folder.File("deep/objects");
  const Program program = TwoSteps("net");
  const CodeImage plain = Compile(program, nullptr);
  CHECK(plain.cached == 0);
  for (const int found : {0, 2}) {
    ObjectCache cache(objects);
    const CodeImage image = Compile(program, &cache);
    CHECK(image.cached == found);
    CHECK(image.objects == plain.objects);
    CHECK(cache.problem().empty());
  }
}

TEST_CASE("object cache: names are no part of what is compiled") {
  const TemporaryFolder folder("objects");
  ObjectCache cache(folder.path());
  Compile(TwoSteps("net"), &cache);
  const Program other = TwoSteps("other");
  const CodeImage image = Compile(other, &cache);
  CHECK(image.cached == 2);
  CHECK(image.kernels[1].name == "mxc_other_001_other_step_f32");
  CHECK(image.objects[1].find(image.kernels[1].name) != std::string::npos);
  CHECK(image.objects == Compile(other, nullptr).objects);
}

TEST_CASE("object cache: another target finds nothing") {
  const TemporaryFolder folder("objects");
  ObjectCache cache(folder.path());
  const Program program = TwoSteps("net");
  Compile(program, &cache, "x86-64-v3");
  CHECK(Compile(program, &cache, "x86-64-v2").cached == 0);
  CHECK(Compile(program, &cache, "x86-64-v4").cached == 0);
}

TEST_CASE("object cache: a damaged or foreign entry is compiled again") {
  const TemporaryFolder folder("objects");
  ObjectCache cache(folder.path());
  const Program program = TwoSteps("net");
  const CodeImage plain = Compile(program, &cache);
  const std::vector<fs::path> files = FilesIn(folder.path());
  REQUIRE(files.size() == 2);
  const std::string good = TextOf(files[0]), other = TextOf(files[1]);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 1;
  for (const std::string& bad :
       {flipped, good.substr(0, good.size() - 1), std::string("foreign"),
        std::string(), other}) {
    WriteText(files[0], bad);
    const CodeImage image = Compile(program, &cache);
    CHECK(image.cached == 1);
    CHECK(image.objects == plain.objects);
    CHECK(TextOf(files[0]) == good);
  }
}

TEST_CASE("object cache: a folder that cannot be written harms nothing") {
  const TemporaryFolder folder("objects");
  WriteText(folder.File("file"), "");
  ObjectCache cache(folder.File("file/objects"));
  const Program program = TwoSteps("net");
  const CodeImage image = Compile(program, &cache);
  CHECK(image.cached == 0);
  CHECK(image.objects == Compile(program, nullptr).objects);
  CHECK(cache.problem().find("file/objects") != std::string::npos);
}

TEST_CASE("object cache: what others may have written is not taken") {
  const TemporaryFolder folder("objects");
  const std::string objects = folder.File("objects");
  ObjectCache cache(objects);
  cache.Keep("a1", "object");
  CHECK(cache.Find("a1") == "object");
  CHECK(fs::status(objects).permissions() == fs::perms::owner_all);
  for (const fs::perms open :
       {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(objects, open, fs::perm_options::add);
    CHECK(cache.Find("a1") == std::nullopt);
    ObjectCache other(objects);
    other.Keep("b2", "object");
    CHECK(other.problem() == "others may write to '" + objects + "'");
    CHECK(FilesIn(objects).size() == 1);
    fs::permissions(objects, fs::perms::owner_all);
    CHECK(cache.Find("a1") == "object");

    // A folder that others may look into, and a file that they may write.
    const fs::path file = FilesIn(objects).front();
    fs::permissions(file, fs::perms::owner_all | open);
    CHECK(cache.Find("a1") == "object");
    fs::permissions(objects, fs::perms::others_exec, fs::perm_options::add);
    CHECK(cache.Find("a1") == std::nullopt);
    fs::permissions(file, open, fs::perm_options::remove);
    CHECK(cache.Find("a1") == "object");
  }
}

TEST_CASE("object cache: what was not used for the longest time goes") {
  const TemporaryFolder folder("objects");
  WriteText(folder.File("notes.txt"), std::string(10'000, 'x'));
  ObjectCache cache(folder.path(), /*most_bytes=*/3500);
  const std::string object(1000, 'o');
  const auto tick = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  for (const char* key : {"a1", "b2", "c3"}) {
    cache.Keep(key, object);
    tick();
  }
  CHECK(cache.Find("a1").has_value());
  tick();
  cache.Keep("d4", object);
  cache.Trim();
  CHECK(cache.Find("a1").has_value());
  CHECK(!cache.Find("b2").has_value());
  CHECK(cache.Find("c3").has_value());
  CHECK(cache.Find("d4").has_value());
  CHECK(fs::exists(folder.File("notes.txt")));
}

TEST_CASE("object cache: looked through again when enough was kept") {
  const TemporaryFolder folder("objects");
  ObjectCache cache(folder.path(), /*most_bytes=*/16'000);
  cache.Keep("a1", "object");
  cache.Trim();
  for (int i = 0; i < 40; ++i) {
    cache.Keep(fmt::format("b{}", i), std::string(900, 'o'));
    cache.Trim();
  }
  int64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(folder.path())) {
    bytes += static_cast<int64_t>(file.file_size());
  }
  CHECK(bytes <= 16'000 + 16'000 / 16 + 1000);
  CHECK(!cache.Find("a1").has_value());
  CHECK(cache.Find("b39").has_value());
}

TEST_CASE("object cache: compilers that share a folder do not disturb") {
  const TemporaryFolder folder("objects");
  const Program program = TwoSteps("net");
  const CodeImage plain = Compile(program, nullptr);
  const Target target = *ResolveTarget("x86-64-v3");
  std::atomic<int> right{0};
  std::vector<std::thread> compilers;
  for (int i = 0; i < 4; ++i) {
    compilers.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        // Almost nothing fits.
        ObjectCache cache(folder.path(), /*most_bytes=*/1500);
        const auto image =
            GenerateCode({&program, 1}, target, {.cache = &cache});
        right += image.ok() && image->objects == plain.objects;
      }
    });
  }
  for (std::thread& compiler : compilers) compiler.join();
  CHECK(right == 12);
}

}  // namespace mxc::test
