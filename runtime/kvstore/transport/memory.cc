// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/transport/memory.h"

#include <algorithm>
#include <deque>
#include <random>
#include <utility>
#include <vector>

namespace mxc::kvstore {
namespace {

constexpr size_t kPipeBytes = size_t{128} << 10;  // on their way, at most

}  // namespace

struct MemoryNetwork::State {
  struct Piece {
    Time arrives = 0;
    std::vector<std::byte> bytes;
    size_t taken = 0;
  };
  // One direction of a connection.
  struct Pipe {
    std::deque<Piece> pieces;
    size_t bytes = 0;
    bool broken = false;  // what has been sent is lost, too
    bool closed = false;  // nothing follows
    Time held_until = 0;  // nothing comes through before
    std::pair<std::string, std::string> between;  // nodes
  };
  struct Arrival {
    Time arrives;
    std::shared_ptr<Pipe> in, out;
  };

  Time now = 0;
  uint64_t carried = 0;  // bytes, by all connections
  MemoryFaults faults;
  std::mt19937_64 random;
  std::map<std::string, std::deque<Arrival>> listeners;
  std::vector<std::weak_ptr<Pipe>> pipes;
  std::map<std::pair<std::string, std::string>, Time> cuts;  // until when

  double Chance() {
    return std::uniform_real_distribution<double>(0, 1)(random);
  }
  size_t Below(size_t count) { return count == 0 ? 0 : random() % count; }
  Time Delay() {
    const auto spread =
        static_cast<size_t>(faults.most_delay - faults.least_delay);
    return faults.least_delay + static_cast<Time>(Below(spread + 1));
  }
  // When what is on its way comes through.
  Time HeldUntil(const Pipe& pipe) const {
    const auto cut = cuts.find(pipe.between);
    return std::max(pipe.held_until, cut == cuts.end() ? 0 : cut->second);
  }
  std::shared_ptr<Pipe> AddPipe(const std::string& one,
                                const std::string& other) {
    std::erase_if(pipes, [](const auto& pipe) { return pipe.expired(); });
    auto pipe = std::make_shared<Pipe>();
    pipe->between = std::minmax(one, other);
    pipes.push_back(pipe);
    return pipe;
  }
};

namespace {

using State = MemoryNetwork::State;
using Piece = State::Piece;
using Pipe = State::Pipe;

class MemoryConnection final : public Connection {
 public:
  MemoryConnection(std::shared_ptr<State> network, std::shared_ptr<Pipe> in,
                   std::shared_ptr<Pipe> out, std::string peer)
      : network_(std::move(network)),
        in_(std::move(in)),
        out_(std::move(out)),
        peer_(std::move(peer)) {}
  ~MemoryConnection() override { in_->broken = out_->closed = true; }

  StatusOr<size_t> Read(std::span<std::byte> bytes) override {
    if (in_->broken) return Broken();
    if (in_->pieces.empty() && in_->closed) {
      return Fail(StatusCode::kIo, "%s: the other end closed the connection",
                  peer_.c_str());
    }
    const Time now = network_->now;
    if (in_->pieces.empty() || in_->pieces.front().arrives > now ||
        network_->HeldUntil(*in_) > now) {
      return size_t{0};
    }
    Piece& piece = in_->pieces.front();
    const size_t count =
        std::min({bytes.size(), piece.bytes.size() - piece.taken,
                  network_->faults.most_bytes});
    std::copy_n(piece.bytes.begin() + static_cast<ptrdiff_t>(piece.taken),
                count, bytes.begin());
    piece.taken += count;
    in_->bytes -= count;
    if (piece.taken == piece.bytes.size()) in_->pieces.pop_front();
    return count;
  }

  using Connection::Write;
  StatusOr<size_t> Write(Bytes first, Bytes second) override {
    if (out_->broken) return Broken();
    const MemoryFaults& faults = network_->faults;
    size_t count = std::min({first.size() + second.size(),
                             kPipeBytes - out_->bytes, faults.most_bytes});
    if (count == 0) return size_t{0};
    const uint64_t before = network_->carried;
    const bool fatal =
        before < faults.fatal_byte && faults.fatal_byte <= before + count;
    if (fatal) count = faults.fatal_byte - before;
    network_->carried += count;
    first = first.first(std::min(first.size(), count));
    second = second.first(count - first.size());
    Piece piece{network_->now + network_->Delay(),
                {first.begin(), first.end()}};
    piece.bytes.insert(piece.bytes.end(), second.begin(), second.end());
    if (!out_->pieces.empty()) {
      piece.arrives = std::max(piece.arrives, out_->pieces.back().arrives);
    }
    if (network_->Chance() < faults.flips) {
      piece.bytes[network_->Below(count)] ^= std::byte{1};
    }
    out_->pieces.push_back(std::move(piece));
    out_->bytes += count;
    if (faults.cuts > 0 && network_->Chance() < faults.cuts) {
      in_->held_until = out_->held_until =
          network_->now + static_cast<Time>(network_->Below(
                              static_cast<size_t>(faults.longest_cut)));
    }
    if (fatal || network_->Chance() < faults.breaks) {
      in_->broken = true;
      // Some of what is on its way still comes, or nothing does.
      (network_->Chance() < 0.5 ? out_->broken : out_->closed) = true;
      return Broken();
    }
    return count;
  }

  std::string peer() const override { return peer_; }
  bool local() const override { return true; }
  int descriptor() const override { return -1; }

 private:
  Status Broken() const {
    return Fail(StatusCode::kIo, "%s: the connection broke", peer_.c_str());
  }

  const std::shared_ptr<State> network_;
  const std::shared_ptr<Pipe> in_, out_;
  const std::string peer_;
};

class MemoryListener final : public Listener {
 public:
  MemoryListener(std::shared_ptr<State> network, std::string address)
      : network_(std::move(network)), address_(std::move(address)) {
    network_->listeners[address_];
  }
  ~MemoryListener() override {
    for (auto& arrival : network_->listeners[address_]) {
      arrival.in->broken = arrival.out->broken = true;
    }
    network_->listeners.erase(address_);
  }

  StatusOr<std::unique_ptr<Connection>> Accept() override {
    auto& arrivals = network_->listeners[address_];
    if (arrivals.empty() || arrivals.front().arrives > network_->now) {
      return std::unique_ptr<Connection>();
    }
    auto arrival = std::move(arrivals.front());
    arrivals.pop_front();
    return std::unique_ptr<Connection>(std::make_unique<MemoryConnection>(
        network_, arrival.in, arrival.out, "somebody at " + address_));
  }
  std::string address() const override { return address_; }
  int descriptor() const override { return -1; }

 private:
  const std::shared_ptr<State> network_;
  const std::string address_;
};

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(std::shared_ptr<State> state, MemoryNetwork& network,
                  std::string node)
      : state_(std::move(state)), network_(network), node_(std::move(node)) {}

  StatusOr<std::unique_ptr<Listener>> Listen(
      const std::string& address) override {
    if (state_->listeners.contains(address)) {
      return Fail(StatusCode::kIo, "somebody listens at %s", address.c_str());
    }
    return std::unique_ptr<Listener>(
        std::make_unique<MemoryListener>(state_, address));
  }

  StatusOr<std::unique_ptr<Connection>> Connect(
      const std::string& address) override {
    const auto found = state_->listeners.find(address);
    if (found == state_->listeners.end()) {
      return Fail(StatusCode::kIo, "%s: nobody listens", address.c_str());
    }
    const auto up = state_->AddPipe(node_, address);
    const auto down = state_->AddPipe(node_, address);
    found->second.push_back({state_->now + state_->Delay(), up, down});
    return std::unique_ptr<Connection>(
        std::make_unique<MemoryConnection>(state_, down, up, address));
  }

  Time Now() override { return state_->now; }
  void Wait(std::span<const Interest>, Time deadline) override {
    network_.Advance(deadline);
  }
  void Wake() override {}

 private:
  const std::shared_ptr<State> state_;
  MemoryNetwork& network_;
  const std::string node_;
};

}  // namespace

MemoryNetwork::MemoryNetwork(const MemoryFaults& faults)
    : state_(std::make_shared<State>()) {
  state_->faults = faults;
  state_->random.seed(faults.seed);
}

MemoryNetwork::~MemoryNetwork() = default;

std::unique_ptr<Transport> MemoryNetwork::Join(const std::string& node) {
  return std::make_unique<MemoryTransport>(state_, *this, node);
}

Time MemoryNetwork::now() const { return state_->now; }

uint64_t MemoryNetwork::carried() const { return state_->carried; }

void MemoryNetwork::SetFaults(const MemoryFaults& faults) {
  state_->faults = faults;
}

void MemoryNetwork::Cut(const std::string& one, const std::string& other,
                        Time until) {
  state_->cuts[std::minmax(one, other)] = until;
}

void MemoryNetwork::Advance(Time deadline) {
  Time next = deadline;
  const auto consider = [&](Time arrives) {
    next =
        std::min(next, std::max(arrives, state_->now + state_->faults.moment));
  };
  for (const auto& weak : state_->pipes) {
    const auto pipe = weak.lock();
    if (pipe == nullptr || pipe->broken || pipe->pieces.empty()) continue;
    consider(std::max(pipe->pieces.front().arrives, state_->HeldUntil(*pipe)));
  }
  for (const auto& [address, arrivals] : state_->listeners) {
    if (!arrivals.empty()) consider(arrivals.front().arrives);
  }
  state_->now = std::max(state_->now, next);
}

}  // namespace mxc::kvstore
