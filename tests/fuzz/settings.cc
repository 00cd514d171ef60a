// SPDX-License-Identifier: Apache-2.0
// Options of sources, as --data-opt gives them: lines "key=value".
#include "runtime/data/settings.h"

#include "runtime/data/iterator.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

constexpr const char* kSpecs[] = {"csv:/none", "rec:/none", "text:/none",
                                  "npy:/none"};

data::Settings SettingsOf(std::string_view text) {
  data::Settings settings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t equals = std::min(line.find('='), line.size());
    settings.emplace_back(line.substr(0, equals),
                          line.substr(std::min(equals + 1, line.size())));
  }
  return settings;
}

// The files are not there: what is wrong with the options is said, and that.
void RunSettings(Bytes input) {
  const char* spec = kSpecs[TakeChoice(&input, std::size(kSpecs))];
  data::IteratorOptions options;
  options.settings = SettingsOf(TextOf(input));
  const auto opened = data::Open(spec, options);
  if (opened.ok()) Wrong("a file that is not there was opened");
  if (opened.status().message().empty()) Wrong("refused without a sentence");
}

std::vector<std::string> SettingsSeeds() {
  using namespace std::string_literals;
  return {"\0data_shape=1,2,3\nshuffle=1\nlabel_column=2\nlast_batch=pad"s,
          "\1data_shape=(3, 8, 8)\nmean_r=1.5e3\nrand_crop=true\nresize=-1"s,
          "\2length=3\nunit=word\nheld_out=0.25\nbuckets=2,4"s,
          "\3batch_size=0\nseed=18446744073709551615\nnobody=knows"s};
}

}  // namespace

extern const Target settings;
const Target settings = {.run = RunSettings,
                         .seeds = SettingsSeeds,
                         .most_bytes = 128,
                         .words = {"data_shape=", "nan", "inf", "-1", "1e999",
                                   "round_batch=", "9223372036854775808",
                                   "num_parts=", "part_index="}};

}  // namespace mxc::fuzz
