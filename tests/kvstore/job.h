// SPDX-License-Identifier: Apache-2.0
// A whole job within one thread: servers and workers on a network in memory,
// where one seed is one course of events.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/client.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/memory.h"

namespace mxc::kvstore {

// A value is the sum of all that was pushed, and its rates.
class AddingShelf final : public Shelf {
 public:
  explicit AddingShelf(const KeyTable& keys) {
    for (const KeySpec& key : keys) values_.emplace_back(key.elements());
  }
  std::span<std::byte> Value(uint32_t key) override {
    return std::as_writable_bytes(std::span(values_[key]));
  }
  void OnWritten(uint32_t) override {}
  Status Update(uint32_t key, std::span<const float> gradient,
                double rate) override {
    for (size_t i = 0; i < gradient.size(); ++i) {
      values_[key][i] += static_cast<float>(rate) * gradient[i];
    }
    return {};
  }

 private:
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

class Job {
 public:
  Job(const MemoryFaults& faults, KeyTable keys, Settings settings,
      uint32_t servers)
      : network(faults), table(std::move(keys)), settings_(settings) {
    settings_.keys = Digest(table);
    for (uint32_t s = 0; s < servers; ++s) {
      addresses_.push_back("server" + std::to_string(s));
      AddServer(addresses_.back());
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

  // Everybody's turn, then the clock goes on.
  Status Turn() {
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

  void AddServer(const std::string& address) {
    transports_.push_back(network.Join());
    auto listener = transports_.back()->Listen(address);
    REQUIRE(listener.ok());
    listeners_.push_back(std::move(*listener));
    shelves_.push_back(std::make_unique<AddingShelf>(table));
    servers.push_back(std::make_unique<Server>(
        *transports_.back(), *listeners_.back(), table, *shelves_.back(),
        ServerOptions{settings_, {}, nullptr}));
  }

  void AddWorker(uint32_t rank) {
    transports_.push_back(network.Join());
    ClientOptions options;
    options.rank = rank;
    options.servers = addresses_;
    options.settings = settings_;
    workers.push_back(
        std::make_unique<Client>(*transports_.back(), table, options));
  }

  Settings settings_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<AddingShelf>> shelves_;
};

}  // namespace mxc::kvstore
