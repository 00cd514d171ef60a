// SPDX-License-Identifier: Apache-2.0
// Jobs whose workers push and pull every key, round after round: what becomes of
// the keys, and what has to.
#pragma once

#include <deque>
#include <random>

#include "tests/kvstore/job.h"

namespace mxc::kvstore {

inline constexpr size_t kKeyCount = 4;
inline constexpr int kRounds = 6;

// In one course of events of eight a key needs several frames.
inline std::vector<size_t> ElementsOf(uint64_t seed) {
  return {3, 1000, size_t{seed % 8 == 0 ? 70'000u : 700u}, 17};
}

// So that the largest key has seven.
inline uint64_t SliceOf(uint64_t seed) {
  return std::ranges::max(ElementsOf(seed)) / 7;
}

inline MemoryFaults Faults(uint64_t seed) {
  std::mt19937_64 random(seed);
  MemoryFaults faults;
  faults.seed = seed;
  faults.most_delay = static_cast<Time>(random() % (kSecond / 5));
  faults.least_delay = faults.most_delay / 3;
  faults.most_bytes = random() % 2 == 0 ? 1 << 16 : 1000 + random() % 9000;
  // So many of 64 KiB, whatever the pieces: long bodies get through, too.
  const double share = double(faults.most_bytes) / (1 << 16);
  faults.breaks = random() % 3 == 0 ? 0.0 : 0.05 * share;
  faults.flips = random() % 3 == 0 ? 0.02 * share : 0.0;
  // Shorter than silence that is borne.
  faults.cuts = random() % 4 == 0 ? 0.01 * share : 0.0;
  faults.longest_cut = 2 * kSecond;
  return faults;
}

// So that something gets through between deaths.
inline MemoryFaults FewerBreaks(uint64_t seed) {
  MemoryFaults faults = Faults(seed);
  faults.breaks /= 10;
  faults.most_bytes = 1 << 16;
  return faults;
}

inline std::vector<float> Gradient(uint64_t seed, size_t key, uint32_t rank,
                                   int round) {
  std::mt19937_64 random(seed * 1000 + key * 100 + rank * 10 +
                         static_cast<uint64_t>(round));
  std::vector<float> values(ElementsOf(seed)[key]);
  for (float& value : values) value = static_cast<float>(random() % 1000) / 7;
  return values;
}

struct Outcome {
  std::vector<std::vector<float>> values;  // of each key, as worker 0 sees it
  int killed = 0, stopped = 0, cut = 0, superseded = 0;  // servers
  uint64_t carried = 0;                                  // bytes
};

// Every worker pushes and pulls every key, round after round.
inline Outcome RunRounds(uint64_t seed, const MemoryFaults& faults,
                         Settings settings, uint32_t servers,
                         const ServerFaults& deaths = {}) {
  const KeyTable keys = KeysOf(ElementsOf(seed));
  // Lags add up: what pairs are tested for is that none of them loses anything.
  Job job(faults, keys, settings, servers, deaths, MakeAddingShelf,
          deaths.pairs ? OnLoss::kWait : OnLoss::kAbort);
  std::vector<std::vector<std::vector<float>>> seen(settings.workers);
  for (auto& of_worker : seen) {
    for (const size_t size : ElementsOf(seed)) of_worker.emplace_back(size);
  }
  const auto out = [&](uint32_t rank, uint32_t key) {
    return std::as_writable_bytes(std::span(seen[rank][key]));
  };
  for (uint32_t key = 0; key < keys.size(); ++key) {
    job.workers[0]->Init(key, std::as_bytes(std::span(seen[0][key])));
    for (uint32_t rank = 1; rank < settings.workers; ++rank) {
      job.workers[rank]->Pull(key, out(rank, key));
    }
  }
  Status status = job.Run();
  REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
  for (int round = 0; round < kRounds; ++round) {
    std::deque<std::vector<float>> gradients;  // until all are pushed
    for (uint32_t rank = 0; rank < settings.workers; ++rank) {
      for (uint32_t key = 0; key < keys.size(); ++key) {
        const auto& gradient =
            gradients.emplace_back(Gradient(seed, key, rank, round));
        if ((key + rank) % 2 == 0) {
          job.workers[rank]->PushPull(key, gradient, 0.5, out(rank, key), key);
        } else {
          job.workers[rank]->Push(key, gradient, 0.5, key);
          job.workers[rank]->Pull(key, out(rank, key), key);
        }
      }
    }
    status = job.Run();
    REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
    if (settings.mode == Mode::kAsync) continue;
    for (uint32_t rank = 1; rank < settings.workers; ++rank) {
      REQUIRE_MESSAGE(seen[rank] == seen[0], "seed " << seed);
    }
  }
  for (uint32_t key = 0; key < keys.size(); ++key) {
    job.workers[0]->Pull(key, out(0, key));
  }
  REQUIRE(job.Run().ok());
  status = job.Finish();
  REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
  return {seen[0], job.killed,     job.stopped,
          job.cut, job.superseded, job.network.carried()};
}

inline std::vector<float> Expected(uint64_t seed, size_t key,
                                   uint32_t workers) {
  std::vector<float> value(ElementsOf(seed)[key]);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<float> sum(value.size());
    for (uint32_t rank = 0; rank < workers; ++rank) {
      const auto gradient = Gradient(seed, key, rank, round);
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i] = rank == 0 ? gradient[i] : sum[i] + gradient[i];
      }
    }
    for (size_t i = 0; i < sum.size(); ++i) value[i] += 0.5f * sum[i];
  }
  return value;
}

inline void RequireExpected(const Outcome& outcome, uint64_t seed,
                            uint32_t workers) {
  for (size_t key = 0; key < kKeyCount; ++key) {
    REQUIRE_MESSAGE(outcome.values[key] == Expected(seed, key, workers),
                    "seed " << seed << ", key " << key);
  }
}

}  // namespace mxc::kvstore
