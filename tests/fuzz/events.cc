// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files.
#include <filesystem>

#include "runtime/train/event_log.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"
#include "tests/support/temporary_folder.h"

namespace mxc::fuzz {
namespace {

void RunEvents(Bytes input) {
  train::SeriesMap series;
  train::ParseEvents(input, series);
}

std::vector<std::string> EventsSeeds() {
  const test::TemporaryFolder folder("events");
  {
    auto log = train::EventLog::Create(folder.path().string());
    if (!log.ok()) Wrong("no event log can be made");
    log->Write(1, std::vector<train::Scalar>{{"loss", 0.5}, {"rate", 1e-3}});
    log->Write(300, std::vector<train::Scalar>{{"loss", 0.25}});
  }
  std::vector<std::string> seeds;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    seeds.push_back(test::TextOf(file.path()));
  }
  return seeds;
}

uint32_t Masked(Bytes bytes) {
  const uint32_t crc = train::Crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

void SealEvents(std::span<std::byte> file) {
  constexpr size_t kHeader = 12, kCrc = 4;
  for (size_t at = 0; at + kHeader + kCrc <= file.size();) {
    const auto length = Load<uint64_t>(file, at);
    Store(file, at + 8, Masked(file.subspan(at, 8)));
    if (length > file.size() - at - kHeader - kCrc) return;
    at += kHeader;
    Store(file, at + length, Masked(file.subspan(at, length)));
    at += length + kCrc;
  }
}

}  // namespace

extern const Target events;
const Target events = {.run = RunEvents,
                       .seeds = EventsSeeds,
                       .most_bytes = 256,
                       .words = {},
                       .seal = SealEvents};

}  // namespace mxc::fuzz
