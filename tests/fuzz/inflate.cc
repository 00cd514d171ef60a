// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/inflate.h"

#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/zip.h"

namespace mxc::fuzz {
namespace {

constexpr data::Deflated kForms[] = {data::Deflated::kGzip,
                                     data::Deflated::kRaw};
constexpr uint64_t kMost = 1000;

void RunInflate(Bytes input) {
  const data::Deflated form = kForms[TakeChoice(&input, 2)];
  const auto content = data::Inflate(input, form, kMost);
  if (!content.ok()) return;
  if (content->size() > kMost) Wrong("more than the most");
  Touch(*content);
}

std::vector<std::string> InflateSeeds() {
  std::vector<std::string> seeds;
  const std::string texts[] = {"", "a text of a few words",
                               std::string(900, 'a'), std::string(3000, 'b')};
  for (const std::string& text : texts) {
    seeds.push_back('\0' + Deflated(text, kForms[0]));
    seeds.push_back('\1' + Deflated(text, kForms[1]));
  }
  seeds.push_back(seeds[2] + Deflated("two files", kForms[0]));
  return seeds;
}

}  // namespace

extern const Target inflate;
const Target inflate = {
    .run = RunInflate, .seeds = InflateSeeds, .most_bytes = 256};

}  // namespace mxc::fuzz
