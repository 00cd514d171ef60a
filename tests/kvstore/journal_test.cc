// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/journal.h"

#include <fstream>
#include <iterator>

#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

struct Remembered {
  std::vector<uint32_t> indices;
  Status Take(const JournalRecord& record) {
    indices.push_back(record.index);
    CHECK(record.number == record.index + 10);
    CHECK(record.applied == std::vector<uint64_t>{record.index, 7});
    CHECK(record.state.size() == record.index);
    return {};
  }
};

Status Write(Journal& journal, uint32_t index) {
  const std::vector<std::byte> state(index, std::byte{5});
  return journal.Append({JournalRecord::Kind::kKey,
                         index,
                         index + 10,
                         false,
                         false,
                         {index, 7},
                         state});
}

Remembered Read(const std::string& path) {
  Remembered remembered;
  const auto journal = Journal::Open(path, [&](const JournalRecord& record) {
    return remembered.Take(record);
  });
  CHECK(journal.ok());
  return remembered;
}

TEST_CASE("a journal gives back what was written, from the newest whole file") {
  const TestFolder folder;
  const std::string path = folder.File("j");
  CHECK(Read(path).indices.empty());
  auto journal = Journal::Open(path, [](const auto&) { return Status(); });
  REQUIRE(journal.ok());
  REQUIRE(journal->Begin().ok());
  REQUIRE(Write(*journal, 1).ok());
  CHECK(Read(path).indices.empty());  // it has no mark yet
  REQUIRE(journal->Mark().ok());
  REQUIRE(Write(*journal, 2).ok());
  CHECK(Read(path).indices == std::vector<uint32_t>{1, 2});
  REQUIRE(journal->Begin().ok());
  REQUIRE(Write(*journal, 3).ok());
  CHECK(Read(path).indices == std::vector<uint32_t>{1, 2});
  REQUIRE(journal->Mark().ok());
  CHECK(Read(path).indices == std::vector<uint32_t>{3});
}

TEST_CASE("a journal that is cut or changed anywhere loses its end, no more") {
  const TestFolder folder;
  auto journal =
      Journal::Open(folder.File("j"), [](const auto&) { return Status(); });
  REQUIRE(journal.ok());
  REQUIRE(journal->Begin().ok());
  REQUIRE(journal->Mark().ok());
  for (const uint32_t index : {1, 2, 3}) REQUIRE(Write(*journal, index).ok());
  std::ifstream file(folder.File("j.1"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto count = [](const std::string& text) {
    Remembered remembered;
    const auto marked = ReadJournal(
        std::as_bytes(std::span(text)),
        [&](const JournalRecord& record) { return remembered.Take(record); });
    REQUIRE(marked.ok());
    for (size_t i = 0; i < remembered.indices.size(); ++i) {
      REQUIRE(remembered.indices[i] == i + 1);
    }
    return remembered.indices.size();
  };
  CHECK(count(whole) == 3);
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK(count(whole.substr(0, size)) < 3);
    std::string changed = whole;
    changed[size] ^= 1;
    CHECK(count(changed) < 3);
  }
}

}  // namespace
}  // namespace mxc::kvstore
