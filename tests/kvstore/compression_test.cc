// SPDX-License-Identifier: Apache-2.0
// 1-bit SGD as CNTK has it: by its formula, and quantised twice in a job.
#include "runtime/kvstore/compression.h"

#include <cstring>

#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

using Values = std::vector<float>;

constexpr Compression kCntk = {Codec::kColumns, 0};

Values Decoded(Bytes encoded, size_t elements) {
  Values values(elements);
  Decode(kCntk, encoded, values);
  return values;
}

// m = 4, d = (3 + 2 + 1 + 6) / 4 = 3, so l = -2 and u = 10: 1 or 7.
TEST_CASE("1bit_cntk: two values a column, and what is left comes again") {
  Values residual(4);
  const auto first = Encode(kCntk, Values{1, 2, 3, 10}, residual);
  float range[2];
  REQUIRE(first.size() == sizeof range + 4);
  std::memcpy(range, first.data(), sizeof range);
  CHECK(range[0] == -2);
  CHECK(range[1] == 10);
  CHECK(first[8] == std::byte{0x10});
  CHECK(Decoded(first, 4) == Values{1, 1, 1, 7});
  CHECK(residual == Values{0, 1, 2, 3});
  // m = 1.5, d = 1.
  const auto second = Encode(kCntk, Values(4), residual);
  CHECK(Decoded(second, 4) == Values{0.5, 0.5, 2.5, 2.5});
  CHECK(residual == Values{-0.5, 0.5, -0.5, 0.5});
}

TEST_CASE("1bit_cntk: each column has its own values, the last one is short") {
  Values gradient(kColumn + 3, 5), residual(gradient.size());
  std::fill(gradient.begin() + kColumn, gradient.end(), -1.0f);
  const auto encoded = Encode(kCntk, gradient, residual);
  CHECK(encoded.size() == 256 + 8 + 4);
  CHECK(Decoded(encoded, gradient.size()) == gradient);
  for (const uint64_t bytes : {256, 2560, 268}) {
    CHECK(EncodedBytes(Codec::kColumns, ElementsOf(Codec::kColumns, bytes)) ==
          bytes);
  }
  CHECK(EncodedBytes(Codec::kColumns, 10'000'000) * 30 < 40'000'000);
}

TEST_CASE("codecs are named, and others refused in a sentence") {
  for (const char* name : {"none", "f16", "2bit:threshold=0.25",
                           "1bit:threshold=0.5", "1bit_cntk"}) {
    const auto parsed = ParseCompression(name);
    REQUIRE(parsed.ok());
    CHECK(parsed->text() == name);
  }
  for (const char* name :
       {"1bit_cntk:threshold=1", "2bit:threshold=0", "4bit"}) {
    CHECK(ParseCompression(name).status().message().starts_with(
        std::string("compression '") + name + "' is unknown"));
  }
}

constexpr size_t kLong = 70'001, kShort = 5;

Values GradientOf(uint32_t rank, int round, size_t elements) {
  std::mt19937_64 random(rank * 100 + static_cast<uint64_t>(round));
  Values gradient(elements);
  for (float& value : gradient) value = float(random() % 2001) / 1000 - 1;
  return gradient;
}

// What a course of rounds leaves.
struct TwiceQuantised {
  Values value;
  uint64_t carried = 0;
  int killed = 0;
};

// Two workers push and pull `elements`; all see the same.
TwiceQuantised RunTwice(const MemoryFaults& faults, const char* codec,
                        size_t elements, uint32_t servers, double deaths) {
  Settings settings;
  settings.workers = 2;
  settings.cut_from = 5000;
  settings.compression = *ParseCompression(codec);
  Job job(
      faults, KeysOf({elements}), settings, servers, {deaths},
      [](const KeyTable& keys) { return std::make_unique<PlainShelf>(keys); });
  const Values zeros(elements);
  Values seen[] = {zeros, zeros};
  job.workers[0]->Init(0, std::as_bytes(std::span(zeros)));
  REQUIRE(job.Run().ok());
  for (int round = 0; round < 4; ++round) {
    const Values gradients[] = {GradientOf(0, round, elements),
                                GradientOf(1, round, elements)};
    for (uint32_t rank = 0; rank < 2; ++rank) {
      job.workers[rank]->PushPull(
          0, gradients[rank], 1, std::as_writable_bytes(std::span(seen[rank])));
    }
    const Status status = job.Run();
    REQUIRE_MESSAGE(status.ok(), status.message());
    CHECK(seen[0] == seen[1]);
  }
  REQUIRE(job.Finish().ok());
  return {seen[0], job.network.carried(), job.killed};
}

// By the codec, which is what the cases above say: each worker's gradient, then
// their sum.
Values ExpectedTwice(size_t elements) {
  Values residuals[] = {Values(elements), Values(elements), Values(elements)};
  Values value;
  for (int round = 0; round < 4; ++round) {
    Values sum(elements);
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const auto encoded =
          Encode(kCntk, GradientOf(rank, round, elements), residuals[rank]);
      const Values decoded = Decoded(encoded, elements);
      for (size_t i = 0; i < elements; ++i) sum[i] += decoded[i];
    }
    value = Decoded(Encode(kCntk, sum, residuals[2]), elements);
  }
  return value;
}

TEST_CASE("1bit_cntk: sums are quantised on their way back, too") {
  const Values expected = ExpectedTwice(kLong);
  const auto plain = RunTwice({}, "none", kLong, 1, 0);
  const auto twice = RunTwice({}, "1bit_cntk", kLong, 1, 0);
  CHECK(twice.value == expected);
  // Both carry the first value and the frames' headers.
  CHECK((plain.carried - 4 * kLong) / (twice.carried - 4 * kLong) >= 25);
  CHECK(RunTwice({}, "1bit_cntk", kLong, 3, 0).value == expected);
  CHECK(RunTwice({}, "1bit_cntk", kShort, 2, 0).value == ExpectedTwice(kShort));
}

TEST_CASE("1bit_cntk: faults and deaths of servers lose no residual") {
  int killed = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    MemoryFaults faults;
    faults.seed = seed;
    faults.most_delay = kSecond / 10;
    faults.breaks = 0.002;
    const auto twice = RunTwice(faults, "1bit_cntk", kLong, 2, 0.02);
    CHECK(twice.value == ExpectedTwice(kLong));
    killed += twice.killed;
  }
  CHECK(killed > 0);
}

}  // namespace
}  // namespace mxc::kvstore
