// SPDX-License-Identifier: Apache-2.0
// What tests of jobs are made of: a shelf, keys, numbers of the environment, a
// folder, what happens to servers.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/shelf.h"
#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

// A value is the sum of all that was pushed, and its rates.
class AddingShelf : public Shelf {
 public:
  explicit AddingShelf(const KeyTable& keys) {
    for (const KeySpec& key : keys) values_.emplace_back(key.elements());
  }
  std::span<std::byte> Value(uint32_t key) override {
    return std::as_writable_bytes(std::span(values_[key]));
  }
  void OnWritten(uint32_t) override {}
  Status Update(uint32_t key, uint64_t first, std::span<const float> gradient,
                double rate) override {
    for (size_t i = 0; i < gradient.size(); ++i) {
      values_[key][first + i] += static_cast<float>(rate) * gradient[i];
    }
    return {};
  }

 protected:
  std::vector<std::vector<float>> values_;
};

inline KeyTable KeysOf(const std::vector<size_t>& elements) {
  KeyTable keys;
  for (size_t i = 0; i < elements.size(); ++i) {
    keys.push_back({"key" + std::to_string(i), elements[i] * sizeof(float),
                    true, static_cast<uint32_t>(i), false});
  }
  return keys;
}

// Of the environment: how many courses of events a test runs, from which seed
// on (schedules.sh).
inline uint64_t EnvironmentNumber(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
inline uint64_t NumberOfSeeds(uint64_t otherwise) {
  return EnvironmentNumber("MXC_SEEDS", otherwise);
}
inline uint64_t FirstSeed() { return EnvironmentNumber("MXC_FIRST_SEED", 0); }

// A folder of its own, which goes with it.
class TestFolder {
 public:
  TestFolder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            Format("mxc-kvstore-test-%d-%d", getpid(), count++);
    std::filesystem::create_directory(path_);
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  std::string File(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// What happens to servers, before a turn, each with some likelihood.
struct ServerFaults {
  // One is killed and started again: what it knew is in its journal then, or in
  // the pair's other process.
  double deaths = 0;
  bool pairs = false;  // each server is two processes, without journals
  // Of pairs: one stands still, or is cut off from the other one or from all, for
  // up to longest_stop.
  double stops = 0, cuts = 0;
  Time longest_stop = 15 * kSecond;
  // Any node, or the arbiters, has no turn for up to 3 s: shorter than silence
  // that is borne.
  double lags = 0;
  Time longest_word = 0;  // to an arbiter, or from it
};

using ShelfMaker = std::function<std::unique_ptr<Shelf>(const KeyTable& keys)>;

inline std::unique_ptr<Shelf> MakeAddingShelf(const KeyTable& keys) {
  return std::make_unique<AddingShelf>(keys);
}

}  // namespace mxc::kvstore
