// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/recordio.h"

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunRecordio(Bytes input) {
  const runtime::RecordIndex index = runtime::IndexRecords(input);
  std::vector<std::byte> joined;
  for (const uint64_t offset : index.offsets) {
    const auto payload = runtime::ReadRecord(input, offset, &joined);
    if (!payload.ok()) Wrong("an indexed record cannot be read");
    Touch(*payload);
    const auto picture = runtime::ParseImageRecord(*payload);
    if (picture.ok()) Touch(picture->content);
  }
  for (const runtime::DamagedBytes& damage : index.damage) {
    if (damage.begin >= damage.end || damage.end > input.size()) {
      Wrong("damage that is not in the file");
    }
  }
}

std::vector<std::string> RecordioSeeds() {
  constexpr char kMagic[] = "\x0a\x23\xd7\xce";
  const std::string payloads[] = {
      "", "abc", "abcd", std::string("abcd") + kMagic + "efgh" + kMagic,
      std::string(kMagic) + kMagic};
  std::vector<std::string> seeds;
  seeds.push_back(FileOf([&](const std::string& path) {
    runtime::RecordWriter writer(path);
    for (const std::string& payload : payloads) {
      (void)writer.Append(BytesOf(payload));
    }
    (void)writer.Commit();
  }));
  seeds.push_back(FileOf([&](const std::string& path) {
    runtime::RecordWriter writer(path);
    for (const std::vector<float>& labels :
         {std::vector<float>{1}, std::vector<float>{1, 2, 3}}) {
      (void)writer.Append(
          runtime::PackImageRecord({labels, 1, 2, BytesOf("a picture")}));
    }
    (void)writer.Commit();
  }));
  return seeds;
}

}  // namespace

extern const Target recordio;
const Target recordio = {.run = RunRecordio,
                         .seeds = RecordioSeeds,
                         .most_bytes = 256,
                         .words = {"\x0a\x23\xd7\xce"}};

}  // namespace mxc::fuzz
