// SPDX-License-Identifier: Apache-2.0
// A whole job within one thread: servers and workers on a network in memory,
// where one seed is one course of events.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/kvstore/client.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/memory.h"
#include "tests/kvstore/job_parts.h"

namespace mxc::kvstore {

// What happens to servers, before a turn, each with some likelihood.
struct ServerFaults {
  // One is killed and started again: what it knew is in its journal then, or in
  // the pair's other process.
  double deaths = 0;
  bool pairs = false;  // each server is two processes, without journals
  double stops = 0;    // of pairs: one stands still for up to longest_stop
  Time longest_stop = 15 * kSecond;
};

class Job {
 public:
  Job(const MemoryFaults& faults, KeyTable keys, Settings settings,
      uint32_t count, const ServerFaults& server_faults = {},
      ShelfMaker make_shelf = MakeAddingShelf, OnLoss on_loss = OnLoss::kAbort)
      : network(WithMoment(faults, server_faults)),
        table(std::move(keys)),
        settings_(settings),
        faults_(server_faults),
        make_shelf_(std::move(make_shelf)),
        on_loss_(on_loss),
        random_(faults.seed) {
    settings_.keys = Digest(table);
    settings_.servers = count;
    const uint32_t processes = faults_.pairs ? 2 * count : count;
    servers.resize(processes);
    transports_.resize(processes);
    listeners_.resize(processes);
    shelves_.resize(processes);
    stands_until_.resize(processes);
    ended_.resize(processes);
    for (uint32_t s = 0; s < processes; ++s) {
      addresses_.push_back((s < count ? "server" : "backup") +
                           std::to_string(s % count));
    }
    for (uint32_t s = 0; s < processes; ++s) Start(s);
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
      for (uint32_t s = 0; s < settings_.servers; ++s) {
        finished = finished && (IsFinished(s) || IsFinished(PartnerOf(s)));
      }
      if (finished) return {};
    }
    return Fail(StatusCode::kFailed, "servers go on for ever");
  }

  // Another process is the worker from now on; it has asked where the job is.
  void Replace(uint32_t rank) {
    workers[rank] = MakeWorker(rank, ++incarnation_);
    workers[rank]->Join();
  }

  // The other process of a pair; of a server that is none, itself.
  size_t PartnerOf(size_t index) const {
    return (index + settings_.servers) % servers.size();
  }
  // From now on the process gets no turn.
  void Stop(size_t index, Time duration) {
    stands_until_[index] = network.now() + duration;
    ++stopped;
  }
  void Kill(size_t index) {
    Remove(index);
    ++killed;
  }
  // In place of one that may be there.
  void Start(size_t index) {
    Remove(index);
    stands_until_[index] = 0;
    transports_[index] = network.Join();
    auto listener = transports_[index]->Listen(addresses_[index]);
    REQUIRE(listener.ok());
    listeners_[index] = std::move(*listener);
    shelves_[index] = make_shelf_(table);
    servers[index] =
        std::make_unique<Server>(*transports_[index], *listeners_[index], table,
                                 *shelves_[index], OptionsOf(index));
    const Status opened = servers[index]->Open();
    REQUIRE_MESSAGE(opened.ok(), opened.message());
  }

  // Whether all that was ever answered is known without the process.
  bool MayDie(size_t index) const {
    if (!faults_.pairs) return servers[index] != nullptr;
    const auto& server = servers[index];
    const auto& other = servers[PartnerOf(index)];
    if (server == nullptr || other == nullptr || Stands(PartnerOf(index))) {
      return false;
    }
    const ServerFacts own = server->facts(), left = other->facts();
    if (left.role == PairRole::kPrimary) {
      return own.role == PairRole::kPrimary ? left.term > own.term
                                            : left.term >= own.term;
    }
    return own.role == PairRole::kPrimary && own.paired && left.paired &&
           left.term == own.term;
  }

  // Everybody's turn, then the clock goes on.
  Status Turn() {
    Strike();
    Time next = network.now() + kSecond;
    for (size_t i = 0; i < servers.size(); ++i) {
      auto& server = servers[i];
      if (server == nullptr) continue;
      if (server->finished()) {
        if (faults_.pairs) End(i);
        continue;
      }
      if (Stands(i)) {
        next = std::min(next, stands_until_[i]);
        continue;
      }
      const Status status = server->Pump();
      if (server->superseded()) {
        ++superseded;
        Start(i);
      } else if (!status.ok()) {
        return status;
      }
      next = std::min(next, servers[i]->deadline());
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
  int killed = 0, stopped = 0, superseded = 0;    // servers
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
    std::string facts = "it hangs";
    for (const auto& server : servers) {
      if (server == nullptr) continue;
      const ServerFacts of = server->facts();
      facts += Format("; role %d, term %d, paired %d", int(of.role),
                      int(of.term), int(of.paired));
    }
    return Fail(StatusCode::kFailed, "%s", facts.c_str());
  }

  void Remove(size_t index) {
    servers[index] = nullptr;
    listeners_[index] = nullptr;
    shelves_[index] = nullptr;
  }
  void End(size_t index) {
    Remove(index);
    ended_[index] = true;
  }
  static MemoryFaults WithMoment(MemoryFaults faults,
                                 const ServerFaults& servers) {
    if (servers.pairs) faults.moment = kSecond / 200;
    return faults;
  }
  bool Chance(double likelihood) {
    return likelihood > 0 &&
           std::uniform_real_distribution<double>(0, 1)(random_) < likelihood;
  }
  bool Stands(size_t index) const {
    return network.now() < stands_until_[index];
  }
  bool IsFinished(size_t index) const {
    return ended_[index] ||
           (servers[index] != nullptr && servers[index]->finished());
  }

  void Strike() {
    if (Chance(faults_.deaths)) {
      const size_t victim = random_() % servers.size();
      if (MayDie(victim)) {
        Kill(victim);
        Start(victim);
      }
    }
    if (Chance(faults_.stops)) {
      const size_t victim = random_() % servers.size();
      // Where the other cannot do without it, shorter than silence that is
      // borne.
      const Time longest = MayDie(victim) ? faults_.longest_stop : 3 * kSecond;
      if (!Stands(victim) && !Stands(PartnerOf(victim))) {
        Stop(victim, static_cast<Time>(random_() % uint64_t(longest)));
      }
    }
  }

  ServerOptions OptionsOf(size_t index) {
    ServerOptions options;
    options.settings = settings_;
    options.on_loss = on_loss_;
    options.lost = [this](uint32_t rank, const std::string&) {
      losses.emplace_back(rank, network.now());
    };
    if (faults_.pairs) {
      options.pair.partner = addresses_[PartnerOf(index)];
      options.pair.name = "server " + std::to_string(index % settings_.servers);
      options.pair.first = index < settings_.servers;
    } else if (faults_.deaths > 0) {
      options.journal = folder_.File(addresses_[index]);
    }
    return options;
  }

  void AddWorker(uint32_t rank) { workers.push_back(MakeWorker(rank, 1)); }

  std::unique_ptr<Client> MakeWorker(uint32_t rank, uint64_t incarnation) {
    transports_.push_back(network.Join());
    ClientOptions options;
    options.rank = rank;
    options.incarnation = incarnation;
    for (uint32_t s = 0; s < settings_.servers; ++s) {
      options.servers.push_back(faults_.pairs ? addresses_[s] + "|" +
                                                    addresses_[PartnerOf(s)]
                                              : addresses_[s]);
    }
    options.settings = settings_;
    return std::make_unique<Client>(*transports_.back(), table, options);
  }

  Settings settings_;
  const ServerFaults faults_;
  const ShelfMaker make_shelf_;
  const OnLoss on_loss_;
  uint64_t incarnation_ = 1;
  std::mt19937_64 random_;
  const TestFolder folder_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Shelf>> shelves_;
  std::vector<Time> stands_until_;
  std::vector<bool> ended_;  // those of pairs, as processes do
};

}  // namespace mxc::kvstore
