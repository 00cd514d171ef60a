// SPDX-License-Identifier: Apache-2.0
// A server's connection to a worker, for the files of Server alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/kvstore/server.h"

namespace mxc::kvstore {

struct Server::Session {
  Session(std::unique_ptr<Connection> connection, const Patience& patience,
          Time now)
      : channel(std::move(connection), patience, now), since(now) {}

  Channel channel;
  const Time since;
  bool known = false;  // the worker has said who it is
  bool over = false;
  bool more = false;      // has come, perhaps, that was not read
  bool waits = false;     // nothing is read, as others have their turn
  bool replaces = false;  // another process was this worker before
  bool partner = false;   // the other end is the server's partner, or may be
  uint32_t rank = 0;
  Time pushed = 0;    // when something of a gradient came last
  uint64_t lead = 0;  // bytes of gradients that no update has used
  // First values, and questions for rows, that are coming, by key.
  std::map<uint32_t, std::vector<std::byte>> bodies;
  // Of a primary: the record that is coming, and those before the mark, which
  // count together.
  std::vector<std::byte> record;
  std::vector<std::vector<std::byte>> first_records;
  bool marked = false;
};

}  // namespace mxc::kvstore
