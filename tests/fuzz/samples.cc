// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/samples.h"

#include "tests/fuzz/corpus.h"

namespace mxc::fuzz {

void ReadSamples(const std::string& spec, const data::Settings& settings) {
  constexpr int kMostBatches = 8;
  data::IteratorOptions options;
  options.batch_size = 2;
  options.threads = 0;
  options.settings = settings;
  auto opened = data::Open(spec, options);
  if (!opened.ok()) return;
  data::Batch batch;
  for (int i = 0; i < kMostBatches; ++i) {
    const auto more = (*opened)->Next(batch);
    if (!more.ok()) break;
    for (const auto& array : batch.data) Touch(array.array.bytes());
    for (const auto& array : batch.labels) Touch(array.array.bytes());
  }
}

void ReadSampleFile(const std::string& source,
                    std::span<const data::Settings> ways, Bytes input) {
  static MemoryFile file;
  const size_t way = TakeChoice(&input, ways.size());
  ReadSamples(source + file.Hold(input), ways[way]);
}

std::vector<std::string> InEveryWay(std::span<const data::Settings> ways,
                                    const std::vector<std::string>& files) {
  std::vector<std::string> seeds;
  for (size_t way = 0; way < ways.size(); ++way) {
    for (const std::string& file : files) {
      seeds.push_back(static_cast<char>(way) + file);
    }
  }
  return seeds;
}

size_t TakeChoice(Bytes* input, size_t count) {
  if (input->empty()) return 0;
  const auto choice = static_cast<size_t>(input->front());
  *input = input->subspan(1);
  return choice % count;
}

}  // namespace mxc::fuzz
