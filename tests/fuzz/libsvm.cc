// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

const data::Settings kLibsvmWays[] = {
    {{"data_shape", "6"}},
    {{"data_shape", "6"}, {"indexing", "1"}},
    {{"data_shape", "2,3"}, {"label_shape", "2"}}};

void RunLibsvm(Bytes input) { ReadSampleFile("libsvm:", kLibsvmWays, input); }

std::vector<std::string> LibsvmSeeds() {
  return InEveryWay(kLibsvmWays, {"1 0:1 5:2\n0 3:1 # so\n\n1 2:2 4:-1e3\n",
                                  "1,2 1:1\n3 4 2:2\n-1 0:x\n"});
}

}  // namespace

extern const Target libsvm;
const Target libsvm = {
    .run = RunLibsvm,
    .seeds = LibsvmSeeds,
    .most_bytes = 128,
    .words = {":", "2147483648:1", "-1:1", "18446744073709551616:1", "#"}};

}  // namespace mxc::fuzz
