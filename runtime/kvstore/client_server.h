// SPDX-License-Identifier: Apache-2.0
// What a client knows of a server, for the files of Client alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/client.h"

namespace mxc::kvstore {

struct Client::Server {
  uint32_t index = 0;
  std::vector<std::string> addresses;  // of the processes that may be it
  size_t at = 0;                       // where it is, or is looked for
  uint64_t term = 0;  // of a pair (pair.h): that this worker has heard of
  std::unique_ptr<Channel> channel;  // null: not connected
  bool welcome = false;
  bool ever = false;                  // it was there
  bool done = false;                  // it knows that this worker has finished
  int joined = 0;                     // as joining_, what it has answered
  uint64_t earliest = 0, latest = 0;  // rounds after which one can join
  bool silent = false;                // it was lost by silence
  Time lost = 0;                      // since when
  Time next = 0;                      // attempt to connect
  Time tried = 0;                     // the last one
  std::string cause;                  // of the last failure
};

}  // namespace mxc::kvstore
