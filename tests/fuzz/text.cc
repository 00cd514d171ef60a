// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

const data::Settings kTextWays[] = {{{"length", "3"}},
                                    {{"length", "2"}, {"unit", "word"}},
                                    {{"buckets", "2,4,9"}},
                                    {{"buckets", "3,6"}, {"unit", "word"}},
                                    {{"length", "2"}, {"held_out", "0.25"}}};

void RunText(Bytes input) { ReadSampleFile("text:", kTextWays, input); }

std::vector<std::string> TextSeeds() {
  return InEveryWay(kTextWays, {"to be\nor not to be\r\n\nthat is\n",
                                "h\xc3\xb6ren \xe2\x82\xac und "
                                "\xf0\x9f\x98\x80 sehen\n\xff\xfe\n"});
}

}  // namespace

extern const Target text;
const Target text = {.run = RunText, .seeds = TextSeeds, .most_bytes = 128};

}  // namespace mxc::fuzz
