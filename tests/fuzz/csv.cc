// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

const data::Settings kCsvWays[] = {{},
                                   {{"label_column", "1"}},
                                   {{"data_shape", "2,2"}, {"skip_lines", "1"}},
                                   {{"last_batch", "pad"}, {"shuffle", "1"}}};

void RunCsv(Bytes input) { ReadSampleFile("csv:", kCsvWays, input); }

std::vector<std::string> CsvSeeds() {
  return InEveryWay(kCsvWays, {"1,2,3\n4,5,6\r\n\n7, -8.5e3 ,+9\n",
                               "a,b,c,d\n1,2,3,4\nnan,inf,x,0x1\n"});
}

}  // namespace

extern const Target csv;
const Target csv = {.run = RunCsv,
                    .seeds = CsvSeeds,
                    .most_bytes = 128,
                    .words = {"\r\n", "nan", "inf", "1e39", "1e-46", ","}};

}  // namespace mxc::fuzz
