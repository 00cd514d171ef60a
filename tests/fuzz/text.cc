// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunText(Bytes input) {
  static const data::Settings kSettings[] = {
      {{"length", "3"}},
      {{"length", "2"}, {"unit", "word"}},
      {{"buckets", "2,4,9"}},
      {{"buckets", "3,6"}, {"unit", "word"}},
      {{"length", "2"}, {"held_out", "0.25"}}};
  static MemoryFile file;
  const size_t way = TakeChoice(&input, std::size(kSettings));
  ReadSamples("text:" + file.Hold(input), kSettings[way]);
}

std::vector<std::string> TextSeeds() {
  std::vector<std::string> seeds;
  for (char way = 0; way < 5; ++way) {
    seeds.push_back(way + std::string("to be\nor not to be\r\n\nthat is\n"));
    seeds.push_back(way + std::string("h\xc3\xb6ren \xe2\x82\xac und "
                                      "\xf0\x9f\x98\x80 sehen\n\xff\xfe\n"));
  }
  return seeds;
}

}  // namespace

extern const Target text;
const Target text = {.run = RunText, .seeds = TextSeeds, .most_bytes = 128};

}  // namespace mxc::fuzz
