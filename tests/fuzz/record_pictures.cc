// SPDX-License-Identifier: Apache-2.0
// RecordIO of pictures, as training reads it.
#include "runtime/formats/recordio.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/pictures.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

const data::Settings kRecordWays[] = {
    {{"data_shape", "3,5,5"}},
    {{"data_shape", "1,4,4"}, {"resize", "6"}, {"rand_crop", "1"}},
    {{"data_shape", "3,5,5"}, {"label_width", "3"}, {"num_parts", "2"}},
    {{"data_shape", "3,4,4"}, {"random_resized_crop", "1"}, {"pad", "1"}}};

void RunRecordPictures(Bytes input) {
  ReadSampleFile("rec:", kRecordWays, input);
}

std::vector<std::string> RecordPicturesSeeds() {
  std::vector<std::string> seeds;
  for (const std::string& picture : Pictures()) {
    const char way = static_cast<char>(seeds.size() % std::size(kRecordWays));
    const std::vector<float> labels(way == 2 ? 3 : 1, 1.0f);
    seeds.push_back(way + FileOf([&](const std::string& path) {
                      runtime::RecordWriter writer(path);
                      (void)writer.Append(runtime::PackImageRecord(
                          {labels, 1, 0, BytesOf(picture)}));
                      (void)writer.Commit();
                    }));
  }
  return seeds;
}

}  // namespace

extern const Target record_pictures;
const Target record_pictures = {.run = RunRecordPictures,
                                .seeds = RecordPicturesSeeds,
                                .most_bytes = 1024,
                                .words = {"\x0a\x23\xd7\xce"}};

}  // namespace mxc::fuzz
