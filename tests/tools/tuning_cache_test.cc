// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/tuning_cache.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace mxc::test {
namespace {

namespace fs = std::filesystem;

TuningEntry Entry(int64_t fast, int64_t slow) {
  return {"A \"machine\"", 4, {{"fast", {fast, 1}}, {"slow", {slow, 2}}}};
}

}  // namespace

TEST_CASE("tuning cache: what is written is read again") {
  const TemporaryFolder folder("tuning-cache");
  const std::string path = folder.File("deep/tuning.json");
  TuningCache cache;
  cache.Put("x86-64-v3", "n=1 k=3", Entry(7, 9));
  cache.Put("x86-64-v2", "n=1 k=3", Entry(10, 1));
  REQUIRE(cache.Write(path).ok());
  const auto read = TuningCache::Read(path);
  REQUIRE_MESSAGE(read.ok(), Render(read.errors()));
  REQUIRE(read->Find("x86-64-v3", "n=1 k=3") != nullptr);
  CHECK(*read->Find("x86-64-v3", "n=1 k=3") == Entry(7, 9));
  CHECK(*read->Find("x86-64-v2", "n=1 k=3") == Entry(10, 1));
  CHECK(read->Find("x86-64-v4", "n=1 k=3") == nullptr);
  CHECK(read->Text() == cache.Text());
  CHECK(TextOf(path) == cache.Text());
}

TEST_CASE("tuning cache: the order of the work does not show") {
  TuningCache a, b;
  a.Put("t", "first", Entry(1, 2));
  a.Put("t", "second", Entry(3, 4));
  b.Put("t", "second", Entry(3, 4));
  b.Put("t", "first", Entry(1, 2));
  CHECK(a.Text() == b.Text());
}

TEST_CASE("tuning cache: writing keeps what others wrote meanwhile") {
  const TemporaryFolder folder("tuning-cache");
  const std::string path = folder.File("tuning.json");
  TuningCache before;
  before.Put("t", "shared", Entry(1, 1));
  REQUIRE(before.Write(path).ok());
  auto ours = TuningCache::Read(path);
  auto theirs = TuningCache::Read(path);
  theirs->Put("t", "shared", Entry(2, 2));
  theirs->Put("t", "theirs", Entry(3, 3));
  REQUIRE(theirs->Write(path).ok());
  ours->Put("t", "ours", Entry(4, 4));
  REQUIRE(ours->Write(path).ok());
  const auto all = TuningCache::Read(path);
  REQUIRE(all.ok());
  CHECK(*all->Find("t", "shared") == Entry(2, 2));
  CHECK(*all->Find("t", "theirs") == Entry(3, 3));
  CHECK(*all->Find("t", "ours") == Entry(4, 4));
}

TEST_CASE("tuning cache: no file is an empty cache") {
  const auto cache = TuningCache::Read("/nowhere/at/all.json");
  REQUIRE(cache.ok());
  CHECK(cache->Find("t", "c") == nullptr);
}

TEST_CASE("tuning cache: damaged and foreign files are refused with a place") {
  const TemporaryFolder folder("tuning-cache");
  const std::string path = folder.File("bad.json");
  const std::string start = "{\"mxc_tuning_cache\": 1, \"entries\": [\n";
  const auto entry = [&](const std::string& threads, const std::string& ns) {
    return start +
           "{\"target\": \"t\", \"contraction\": \"c\", \"machine\": \"m\",\n" +
           "\"threads\": " + threads + ",\n\"ns\": " + ns + "}]}";
  };
  struct Case {
    std::string text, message;
    uint32_t line;
  };
  const Case cases[] = {
      {"", "", 1},
      {"\x7f"
       "ELF\x02",
       "", 1},
      {start + "{\"target\": \"t\"", "", 2},
      {"[1, 2]", "this is no tuning cache", 1},
      {"{\"nodes\": []}", "this is no tuning cache", 1},
      {"{\"mxc_tuning_cache\": 2,\n\"entries\": []}", "is 2, expected 1", 1},
      {"{\"mxc_tuning_cache\": 1}", "'entries' is missing", 1},
      {start + "7]}", "entry is an integer, expected an object", 2},
      {start + "{\"target\": 1}]}", "target is an integer", 2},
      {entry("0", "{}"), "'threads' is 0, expected 1 to", 3},
      {entry("1", "[]"), "ns is a list, expected an object", 4},
      {entry("1", "{\"direct\": [1]}"), "the times of 'direct' are wrong", 4},
      {entry("1", "{\"direct\": [1, 0]}"), "the times of 'direct'", 4},
      {entry("1", "{\"direct\": [1, 1e99]}"), "the times of 'direct'", 4},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    std::ofstream(path, std::ios::binary) << c.text;
    const auto cache = TuningCache::Read(path);
    REQUIRE(!cache.ok());
    const Diagnostic& error = cache.errors().front();
    REQUIRE(error.loc.file != nullptr);
    CHECK(error.loc.file->path == path);
    CHECK(error.loc.line == c.line);
    CHECK_MESSAGE(error.message.find(c.message) != std::string::npos,
                  error.message);
  }
}

TEST_CASE("tuning cache: a damaged file is not written over") {
  const TemporaryFolder folder("tuning-cache");
  const std::string path = folder.File("bad.json");
  std::ofstream(path) << "{";
  TuningCache cache;
  cache.Put("t", "c", Entry(1, 1));
  CHECK(!cache.Write(path).ok());
  CHECK(TextOf(path) == "{");
}

}  // namespace mxc::test
