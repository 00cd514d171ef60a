// SPDX-License-Identifier: Apache-2.0
// Records of a server: a journal's file, and what a backup takes from its
// primary, into a store that has dense and sparse keys.
#include "runtime/base/checksum.h"
#include "runtime/kvstore/journal.h"
#include "runtime/kvstore/store.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

using kvstore::JournalRecord;

class Nobody final : public kvstore::Answers {
 public:
  void Commit(uint32_t, uint32_t, uint64_t) override {}
  void Value(uint32_t, uint32_t, uint64_t, uint64_t, kvstore::Body) override {}
};

kvstore::KeyTable Keys() {
  kvstore::KeyTable keys = {{"weight", 16, true, 0, false},
                            {"updates", 8, false, 0, true},
                            {"rows", 64, true, 2, false}};
  keys[2].width = 4;
  return keys;
}

void RunRecords(Bytes input) {
  const kvstore::KeyTable keys = Keys();
  kvstore::Settings settings;
  settings.workers = 2;
  kvstore::PlainShelf shelf(keys);
  Nobody nobody;
  kvstore::Store store(keys, settings, shelf, nobody);
  store.KeepPrevious();
  const auto restore = [&](const JournalRecord& record) {
    Touch(record.state);
    const auto bytes = kvstore::EncodeRecord(record);
    const auto again = kvstore::DecodeRecord(bytes);
    if (!again || again->number != record.number ||
        again->applied != record.applied) {
      Wrong("a record is read otherwise than it was written");
    }
    return record.kind == JournalRecord::Kind::kRows ? store.RestoreRows(record)
                                                     : store.Restore(record);
  };
  (void)kvstore::ReadJournal(input, restore).ok();
  (void)kvstore::DecodeRecord(input).has_value();
}

std::string RecordText(const JournalRecord& record) {
  const auto bytes = kvstore::EncodeRecord(record);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> Journals() {
  using Kind = JournalRecord::Kind;
  const std::vector<std::byte> weight(16), updates(8), rows(64);
  const uint64_t numbers[] = {1, 3};
  const float elements[8] = {};
  const auto some = kvstore::EncodeRows({numbers, elements});
  const std::string mark = RecordText({});
  const std::string known =
      RecordText({Kind::kKey, 1, 0, false, false, {0, 0}, updates}) +
      RecordText({Kind::kKey, 0, 4, false, false, {4, 4}, weight}) +
      RecordText({Kind::kKey, 0, 5, false, false, {5, 5}, weight}) +
      RecordText({Kind::kKey, 2, 5, false, false, {5, 5}, rows});
  return {mark, known + mark,
          known + mark +
              RecordText({Kind::kRows, 2, 6, false, false, {6, 6}, some}),
          RecordText({Kind::kWorker, 1, 7, false, true, {3}, {}}) + mark};
}

// The checksum of every record, where journal.cc puts it.
void SealRecords(std::span<std::byte> input) {
  constexpr size_t kHeader = 48, kWorkers = 24, kState = 32, kSum = 40;
  while (input.size() >= kHeader) {
    const uint64_t workers = Load<uint64_t>(input, kWorkers);
    const uint64_t state = Load<uint64_t>(input, kState);
    const size_t left = input.size() - kHeader;
    if (workers > left / 8 || state > left - 8 * workers) return;
    const size_t size = kHeader + 8 * workers + state;
    Store(input, kSum, uint64_t{0});
    Store(input, kSum, runtime::Checksum(input.first(size)));
    input = input.subspan(size);
  }
}

}  // namespace

extern const Target kvstore_record;
const Target kvstore_record = {.run = RunRecords,
                               .seeds = Journals,
                               .most_bytes = 1024,
                               .words = {"MXKJ"},
                               .seal = SealRecords};

}  // namespace mxc::fuzz
