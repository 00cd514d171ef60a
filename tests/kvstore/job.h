// SPDX-License-Identifier: Apache-2.0
// A whole job within one thread: servers and workers on a network in memory,
// where one seed is one course of events.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/kvstore/client.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/memory.h"

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

using ShelfMaker = std::function<std::unique_ptr<Shelf>(const KeyTable& keys)>;

inline std::unique_ptr<Shelf> MakeAddingShelf(const KeyTable& keys) {
  return std::make_unique<AddingShelf>(keys);
}

class Job {
 public:
  // `deaths`: how likely a server is killed before a turn and started again;
  // what it knew is in its journal then.
  Job(const MemoryFaults& faults, KeyTable keys, Settings settings,
      uint32_t count, double deaths = 0,
      ShelfMaker make_shelf = MakeAddingShelf, OnLoss on_loss = OnLoss::kAbort)
      : network(faults),
        table(std::move(keys)),
        settings_(settings),
        deaths_(deaths),
        make_shelf_(std::move(make_shelf)),
        on_loss_(on_loss),
        random_(faults.seed) {
    settings_.keys = Digest(table);
    settings_.servers = count;
    servers.resize(count);
    transports_.resize(count);
    listeners_.resize(count);
    shelves_.resize(count);
    for (uint32_t s = 0; s < count; ++s) {
      addresses_.push_back("server" + std::to_string(s));
      Start(s);
    }
    for (uint32_t rank = 0; rank < settings.workers; ++rank) AddWorker(rank);
  }

  // Until no worker waits for anything; the first node that fails ends it.
  Status Run() {
    return RunUntil([](const Client& worker) { return worker.idle(); });
  }
  Status Finish() {
    for (auto& worker : workers) worker->Finish();
    MXC_RT_RETURN_IF_ERROR(
        RunUntil([](const Client& worker) { return worker.finished(); }));
    for (int i = 0; i < 1000; ++i) {
      MXC_RT_RETURN_IF_ERROR(Turn());
      bool finished = true;
      for (auto& server : servers) finished = finished && server->finished();
      if (finished) return {};
    }
    return Fail(StatusCode::kFailed, "servers go on for ever");
  }

  // Another process is the worker from now on; it has asked where the job is.
  void Replace(uint32_t rank) {
    workers[rank] = MakeWorker(rank, ++incarnation_);
    workers[rank]->Join();
  }

  // Everybody's turn, then the clock goes on.
  Status Turn() {
    if (std::uniform_real_distribution<double>(0, 1)(random_) < deaths_) {
      const size_t victim = random_() % servers.size();
      Kill(victim);
      Start(victim);
      ++killed;
    }
    Time next = network.now() + kSecond;
    for (auto& server : servers) {
      if (server == nullptr || server->finished()) continue;
      MXC_RT_RETURN_IF_ERROR(server->Pump());
      next = std::min(next, server->deadline());
    }
    for (auto& worker : workers) {
      if (worker == nullptr) continue;
      MXC_RT_RETURN_IF_ERROR(worker->Pump());
      next = std::min(next, worker->deadline());
    }
    network.Advance(next);
    return {};
  }

  MemoryNetwork network;
  const KeyTable table;
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<std::unique_ptr<Client>> workers;
  int killed = 0;                                 // servers
  std::vector<std::pair<uint32_t, Time>> losses;  // that servers told, and when

 private:
  template <class Done>
  Status RunUntil(Done done) {
    constexpr Time kLongest = 3600 * kSecond;
    const Time begun = network.now();
    while (network.now() - begun < kLongest) {
      bool all = true;
      for (auto& worker : workers) {
        all = all && (worker == nullptr || done(*worker));
      }
      if (all) return {};
      MXC_RT_RETURN_IF_ERROR(Turn());
    }
    return Fail(StatusCode::kFailed, "it hangs");
  }

  void Kill(size_t index) {
    servers[index] = nullptr;
    listeners_[index] = nullptr;
    shelves_[index] = nullptr;
  }

  void Start(size_t index) {
    transports_[index] = network.Join();
    auto listener = transports_[index]->Listen(addresses_[index]);
    REQUIRE(listener.ok());
    listeners_[index] = std::move(*listener);
    shelves_[index] = make_shelf_(table);
    ServerOptions options;
    options.settings = settings_;
    options.on_loss = on_loss_;
    options.lost = [this](uint32_t rank, const std::string&) {
      losses.emplace_back(rank, network.now());
    };
    if (deaths_ > 0) options.journal = folder_.File(addresses_[index]);
    servers[index] =
        std::make_unique<Server>(*transports_[index], *listeners_[index], table,
                                 *shelves_[index], options);
    const Status opened = servers[index]->Open();
    REQUIRE_MESSAGE(opened.ok(), opened.message());
  }

  void AddWorker(uint32_t rank) { workers.push_back(MakeWorker(rank, 1)); }

  std::unique_ptr<Client> MakeWorker(uint32_t rank, uint64_t incarnation) {
    transports_.push_back(network.Join());
    ClientOptions options;
    options.rank = rank;
    options.incarnation = incarnation;
    options.servers = addresses_;
    options.settings = settings_;
    return std::make_unique<Client>(*transports_.back(), table, options);
  }

  Settings settings_;
  const double deaths_;
  const ShelfMaker make_shelf_;
  const OnLoss on_loss_;
  uint64_t incarnation_ = 1;
  std::mt19937_64 random_;
  const TestFolder folder_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Shelf>> shelves_;
};

}  // namespace mxc::kvstore
