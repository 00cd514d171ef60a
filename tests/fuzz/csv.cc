// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunCsv(Bytes input) {
  static const data::Settings kSettings[] = {
      {},
      {{"label_column", "1"}},
      {{"data_shape", "2,2"}, {"skip_lines", "1"}},
      {{"last_batch", "pad"}, {"shuffle", "1"}}};
  static MemoryFile file;
  const size_t way = TakeChoice(&input, std::size(kSettings));
  ReadSamples("csv:" + file.Hold(input), kSettings[way]);
}

std::vector<std::string> CsvSeeds() {
  const std::string lines = "1,2,3\n4,5,6\r\n\n7, -8.5e3 ,+9\n";
  std::vector<std::string> seeds;
  for (char way = 0; way < 4; ++way) {
    seeds.push_back(way + lines);
    seeds.push_back(way + std::string("a,b,c,d\n1,2,3,4\nnan,inf,x,0x1\n"));
  }
  return seeds;
}

}  // namespace

extern const Target csv;
const Target csv = {.run = RunCsv,
                    .seeds = CsvSeeds,
                    .most_bytes = 128,
                    .words = {"\r\n", "nan", "inf", "1e39", "1e-46", ","}};

}  // namespace mxc::fuzz
