// SPDX-License-Identifier: Apache-2.0
// Caffe's databases: the tree of pages, and the messages in it.
#include "runtime/formats/lmdb.h"

#include <cstring>

#include "runtime/formats/caffe_messages.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

// The pages of a file are as small as they may be.
constexpr size_t kPage = 512;

template <class T>
void Put(std::string& file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

void RunLmdb(Bytes input) {
  const auto entries = runtime::ReadLmdb(input);
  if (!entries.ok()) return;
  for (const runtime::LmdbEntry& entry : *entries) {
    Touch(BytesOf(entry.key));
    Touch(entry.value);
    const auto datum = runtime::ParseCaffeDatum(entry.value);
    if (datum.ok()) Touch(datum->data);
    (void)runtime::ParseCaffeBlob(entry.value);
    (void)runtime::ParseCaffeSolverState(entry.value);
  }
}

// A leaf with one value, below a branch where there is one.
std::string OneValue(bool branch, const std::string& value) {
  std::string file(kPage * (branch ? 4 : 3), '\0');
  for (const size_t meta : {size_t{0}, kPage}) {
    Put(file, meta + 16, uint32_t{0xbeefc0de});
    Put(file, meta + 20, uint32_t{1});
    Put(file, meta + 40, static_cast<uint32_t>(kPage));
    Put(file, meta + 88 + 32, uint64_t{1});
    Put(file, meta + 88 + 40, uint64_t{branch ? 3u : 2u});
    Put(file, meta + 144, uint64_t{meta / kPage});
  }
  for (int page = 2; page < (branch ? 4 : 3); ++page) {
    const size_t at = static_cast<size_t>(page) * kPage;
    const bool leaf = page == 2;
    Put(file, at + 10, static_cast<uint16_t>(leaf ? 2 : 1));
    Put(file, at + 12, uint16_t{18});
    Put(file, at + 16, uint16_t{64});
    Put(file, at + 64, static_cast<uint16_t>(leaf ? value.size() : 2));
    if (!leaf) continue;
    Put(file, at + 70, uint16_t{1});
    file.replace(at + 72, 1 + value.size(), "k" + value);
  }
  return file;
}

std::vector<std::string> LmdbSeeds() {
  const std::string datum("\x08\x01\x10\x01\x18\x02\x22\x02\x07\x09\x28\x03",
                          12);
  const std::string blob("\x2a\x04\x00\x00\x80\x3f\x3a\x03\x0a\x01\x01", 11);
  return {OneValue(false, datum), OneValue(true, blob)};
}

}  // namespace

extern const Target lmdb;
const Target lmdb = {.run = RunLmdb,
                     .seeds = LmdbSeeds,
                     .most_bytes = 4 * kPage,
                     .words = {"\xde\xc0\xef\xbe"}};

}  // namespace mxc::fuzz
