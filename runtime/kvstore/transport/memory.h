// SPDX-License-Identifier: Apache-2.0
// A network within one thread, on a clock that stands still until somebody
// waits: the nodes of a job run as fast as they compute, and one seed is one
// course of events, with its delays, its small pieces and its breaks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "runtime/kvstore/transport/transport.h"

namespace mxc::kvstore {

struct MemoryFaults {
  uint64_t seed = 0;
  Time least_delay = 0, most_delay = 0;  // of bytes on their way
  size_t most_bytes = 1 << 16;           // that a Read or Write moves
  // How likely a Write breaks its connection behind some of its bytes.
  double breaks = 0;
  // How likely a Write changes a bit, as bad memory would.
  double flips = 0;
  // How likely behind a Write nothing comes through the connection, in either
  // direction, for up to `longest_cut`.
  double cuts = 0;
  Time longest_cut = 0;
  // The connection that carries the byte of this number, counted over the whole
  // network from 1, breaks behind it; 0: none does.
  uint64_t fatal_byte = 0;
  // How long what has arrived and nobody has taken waits for another turn: longer
  // where nodes stand still.
  Time moment = kSecond / 10'000;
};

class MemoryNetwork {
 public:
  explicit MemoryNetwork(const MemoryFaults& faults = {});
  ~MemoryNetwork();

  // A node's way to the others; the network must outlive it. Addresses are any
  // names; a node listens at its own.
  std::unique_ptr<Transport> Join(const std::string& node = "");

  Time now() const;
  // Bytes, by all connections.
  uint64_t carried() const;
  // To when the next bytes arrive, but not behind `deadline`.
  void Advance(Time deadline);
  void SetFaults(const MemoryFaults& faults);
  // Between these nodes nothing comes through until then, in connections that
  // there are and in later ones.
  void Cut(const std::string& one, const std::string& other, Time until);

  struct State;

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace mxc::kvstore
