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
#include "tests/kvstore/job_arbiters.h"
#include "tests/kvstore/job_parts.h"

namespace mxc::kvstore {

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
        random_(faults.seed),
        arbiters_(count, faults.seed, server_faults.longest_word) {
    settings_.keys = Digest(table);
    settings_.servers = count;
    const uint32_t processes = faults_.pairs ? 2 * count : count;
    servers.resize(processes);
    transports_.resize(processes);
    listeners_.resize(processes);
    shelves_.resize(processes);
    stands_until_.resize(processes);
    cut_until_.resize(processes);
    worker_stands_until_.resize(settings.workers);
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
    const Time begun = network.now();
    while (network.now() - begun < 60 * kSecond) {
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
  // From now on nothing comes to the process or from it, to or from its partner
  // alone or anybody.
  void Cut(size_t index, Time duration, bool partner_alone = false) {
    const Time until = network.now() + duration;
    cut_until_[index] = until;
    ++cut;
    network.Cut(addresses_[index], addresses_[PartnerOf(index)], until);
    if (partner_alone) return;
    arbiters_.Hold(index, until);
    for (uint32_t rank = 0; rank < settings_.workers; ++rank) {
      network.Cut(addresses_[index], "worker" + std::to_string(rank), until);
    }
  }
  void Kill(size_t index) {
    Remove(index);
    ++killed;
  }
  // In place of one that may be there.
  void Start(size_t index) {
    stands_until_[index] = 0;
    Begin(index);
  }

  // Whether all that was ever answered is known without the process.
  bool MayDie(size_t index) const {
    if (!faults_.pairs) return servers[index] != nullptr;
    const size_t other = PartnerOf(index);
    return servers[index] != nullptr && servers[other] != nullptr &&
           !IsAway(other) && arbiters_.IsIn(other);
  }

  // Everybody's turn, then the clock goes on.
  Status Turn() {
    Strike();
    Time next = std::min(
        network.now() + kSecond,
        arbiters_.Deliver(network.now(), [this](size_t i, const Term& term) {
          if (Stands(i)) return false;
          if (servers[i] != nullptr) servers[i]->OnTerm(term);
          return true;
        }));
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
        Begin(i);
      } else if (!status.ok()) {
        return status;
      }
      next = std::min(next, servers[i]->deadline());
    }
    for (size_t rank = 0; rank < workers.size(); ++rank) {
      const auto& worker = workers[rank];
      if (worker == nullptr) continue;
      if (network.now() < worker_stands_until_[rank]) {
        next = std::min(next, worker_stands_until_[rank]);
        continue;
      }
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
  int killed = 0, stopped = 0, cut = 0, superseded = 0;  // servers
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

  // As the process that it was, if it was one.
  void Begin(size_t index) {
    servers[index] = nullptr;
    listeners_[index] = nullptr;
    transports_[index] = network.Join(addresses_[index]);
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

  void Remove(size_t index) {
    arbiters_.Forget(index);
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
  bool IsAway(size_t index) const {
    return Stands(index) || network.now() < cut_until_[index];
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
    // Where the other cannot do without it, shorter than silence that is borne.
    const auto span = [this](size_t victim) {
      const Time longest = MayDie(victim) ? faults_.longest_stop : 3 * kSecond;
      return static_cast<Time>(random_() % uint64_t(longest));
    };
    if (Chance(faults_.stops)) {
      const size_t victim = random_() % servers.size();
      if (!IsAway(victim) && !IsAway(PartnerOf(victim))) {
        Stop(victim, span(victim));
      }
    }
    if (Chance(faults_.cuts)) {
      const size_t victim = random_() % servers.size();
      if (!IsAway(victim) && !IsAway(PartnerOf(victim))) {
        Cut(victim, span(victim), random_() % 2 == 0);
      }
    }
    if (Chance(faults_.lags)) Lag();
  }

  void Lag() {
    const Time until =
        network.now() + static_cast<Time>(random_() % (3 * kSecond));
    const size_t victim = random_() % (servers.size() + workers.size() + 1);
    if (victim < servers.size()) {
      stands_until_[victim] = std::max(stands_until_[victim], until);
    } else if (victim - servers.size() < workers.size()) {
      worker_stands_until_[victim - servers.size()] = until;
    } else {
      arbiters_.StandStill(until);
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
      options.pair.propose = [this, index](const Proposal& proposal) {
        arbiters_.Say(index, proposal, network.now());
      };
    } else if (faults_.deaths > 0) {
      options.journal = folder_.File(addresses_[index]);
    }
    return options;
  }

  void AddWorker(uint32_t rank) { workers.push_back(MakeWorker(rank, 1)); }

  std::unique_ptr<Client> MakeWorker(uint32_t rank, uint64_t incarnation) {
    transports_.push_back(network.Join("worker" + std::to_string(rank)));
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
  Arbiters arbiters_;
  const TestFolder folder_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Shelf>> shelves_;
  std::vector<Time> stands_until_, cut_until_, worker_stands_until_;
  std::vector<bool> ended_;  // those of pairs, as processes do
};

}  // namespace mxc::kvstore
