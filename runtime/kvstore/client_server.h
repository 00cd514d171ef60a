// SPDX-License-Identifier: Apache-2.0
// What a client knows of a server, for the files of Client alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/kvstore/client.h"

namespace mxc::kvstore {

struct Client::Server {
  uint32_t index = 0;
  std::unique_ptr<Channel> channel;  // null: not connected
  bool welcome = false;
  bool ever = false;                  // it was there
  bool done = false;                  // it knows that this worker has finished
  int joined = 0;                     // as joining_, what it has answered
  uint64_t earliest = 0, latest = 0;  // rounds after which one can join
  bool silent = false;                // it was lost by silence
  Time lost = 0;                      // since when
  Time next = 0;                      // attempt to connect
  std::string cause;                  // of the last failure
};

}  // namespace mxc::kvstore
