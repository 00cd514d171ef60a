// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/updater_states.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "runtime/formats/ndarray_list.h"
#include "tests/support/archive.h"
#include "tests/support/shared.h"

namespace mxc::runtime {
namespace {

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Every optimizer that MXNet has, as Updater.get_states wrote it.
std::map<std::string, std::string> MxnetFiles() {
  const auto archive =
      ReadArchive(SharedFolder() + "/cases/mxnet-training/optimizers.tar.gz");
  if (!archive) MESSAGE("skipped: no shared cases");
  return archive.value_or(std::map<std::string, std::string>());
}

bool SameArray(const Array& a, const Array& b) {
  return a.type == b.type && a.shape == b.shape &&
         std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

bool SameState(const StateValue& a, const StateValue& b) {
  if (a.array.has_value() != b.array.has_value() || a.is_tuple != b.is_tuple ||
      a.items.size() != b.items.size()) {
    return false;
  }
  if (a.array && !SameArray(*a.array, *b.array)) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!SameState(a.items[i], b.items[i])) return false;
  }
  return true;
}

std::string WriteToText(const UpdaterStates& states) {
  const std::string path =
      "/tmp/mxc_updater_states." + std::to_string(getpid());
  REQUIRE(WriteUpdaterStates(path, states).ok());
  std::string text = ReadText(path);
  unlink(path.c_str());
  return text;
}

TEST_CASE("updater states: MXNet's files hold MXNet's arrays" *
          doctest::test_suite("shared")) {
  const auto files = MxnetFiles();
  constexpr const char* kNames[] = {"fc_weight", "fc_bias", "bn_gamma"};
  size_t compared = 0;
  for (const auto& [path, text] : files) {
    if (!path.ends_with(".states")) continue;
    CAPTURE(path);
    const auto states = ParseUpdaterStates(BytesOf(text));
    REQUIRE_MESSAGE(states.ok(), states.status().message());
    CHECK(states->entries.size() == 3);
    CHECK(states->optimizer ==
          (path.find("dump-optimizer") == std::string::npos ? "" : "Adam"));
    std::map<std::string, std::vector<Array>> expected;
    const auto arrays =
        files.find(path.substr(0, path.size() - 7) + ".state_arrays.params");
    if (arrays != files.end()) {
      const auto list = ParseNdarrayList(BytesOf(arrays->second));
      REQUIRE(list.ok());
      for (const NamedArray& named : *list) {
        const std::string name = named.name.substr(6);  // "state:NAME.k"
        expected[name.substr(0, name.find('.'))].push_back(named.array);
      }
    }
    for (const UpdaterStates::Entry& entry : states->entries) {
      const auto& found = FlattenState(entry.value);
      const auto& wanted = expected[kNames[std::get<int64_t>(entry.key)]];
      REQUIRE(found.size() == wanted.size());
      for (size_t i = 0; i < found.size(); ++i, ++compared) {
        CHECK(SameArray(found[i], wanted[i]));
      }
    }
    // What is written is read back as it was.
    const auto again = ParseUpdaterStates(BytesOf(WriteToText(*states)));
    REQUIRE(again.ok());
    REQUIRE(again->entries.size() == states->entries.size());
    for (size_t i = 0; i < again->entries.size(); ++i) {
      CHECK(again->entries[i].key == states->entries[i].key);
      CHECK(SameState(again->entries[i].value, states->entries[i].value));
    }
  }
  if (!files.empty()) CHECK(compared > 200);
}

// pickle.dumps({0: NDArray(None) with 2 floats, 'b': None}, protocol) under
// Python 2, as MXNet 1.4 wrote it: protocol 0.
TEST_CASE("updater states: Python 2's pickles") {
  const std::string text =
      "(dp0\nI0\ncmxnet.ndarray.ndarray\nNDArray\np1\n(NtRp2\n(dp3\n"
      "S'handle'\np4\nc__builtin__\nbytearray\np5\n(V"
      "\xc9\xfa\x93\xf9\\u0000\\u0000\\u0000\\u0000\x01\\u0000\\u0000\\u0000"
      "\x01\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
      "\x01\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
      "\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\x80?\n"
      "S'latin-1'\ntRp6\nsbsS'b'\nNs.";
  const auto states = ParseUpdaterStates(BytesOf(text));
  REQUIRE_MESSAGE(states.ok(), states.status().message());
  REQUIRE(states->entries.size() == 2);
  REQUIRE(states->entries[0].value.array);
  float value = 0;
  std::memcpy(&value, states->entries[0].value.array->bytes().data(), 4);
  CHECK(value == 1);
  CHECK(std::get<std::string>(states->entries[1].key) == "b");
}

TEST_CASE("updater states: code in a pickle is never run") {
  // {0: os.system('touch /tmp/mxc_pwned')}
  const auto states = ParseUpdaterStates(
      BytesOf("(dI0\ncos\nsystem\n(S'touch /tmp/mxc_pwned'\ntRs."));
  CHECK_FALSE(states.ok());
  CHECK(states.status().message() ==
        "a state is an object of class 'os.system', not an NDArray");
  CHECK(access("/tmp/mxc_pwned", F_OK) != 0);
}

TEST_CASE(
    "updater states: neither cycles nor sharing cost more than the file") {
  // A dict that holds itself; a tuple of tuples … of two of the one below.
  CHECK_FALSE(ParseUpdaterStates(BytesOf("}p0\nI0\ng0\ns.")).ok());
  std::string doubling = "(dI0\nN";
  for (int i = 0; i < 60; ++i) doubling += "2\x86";
  CHECK_FALSE(ParseUpdaterStates(BytesOf(doubling + "s.")).ok());
  // One long text, copied a million times.
  std::string copies = "]cbuiltins\nbytes\nq\1(X";
  const uint32_t size = 1 << 20;
  copies.append(reinterpret_cast<const char*>(&size), 4);
  copies += std::string(size, 'x') + "tq\2";
  for (int i = 0; i < 100000; ++i) copies += "h\1h\2Ra";
  CHECK_FALSE(ParseUpdaterStates(BytesOf(copies + ".")).ok());
}

TEST_CASE("updater states: damage is refused, never followed" *
          doctest::test_suite("shared")) {
  const auto files = MxnetFiles();
  const auto found = files.find("optimizers/dump-optimizer.states");
  if (found == files.end()) return;
  const std::string& whole = found->second;
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(ParseUpdaterStates(BytesOf(whole.substr(0, size))).ok());
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 1 + i % 4; ++k) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto states = ParseUpdaterStates(BytesOf(damaged));
    if (!states.ok()) CHECK_FALSE(states.status().message().empty());
  }
}

}  // namespace
}  // namespace mxc::runtime
