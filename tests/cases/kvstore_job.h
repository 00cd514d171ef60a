// SPDX-License-Identifier: Apache-2.0
// A job of real processes over TCP and TLS on this machine: forked servers, and
// forked workers that do what they are told.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/kvstore/settings.h"
#include "runtime/kvstore/shelf.h"
#include "runtime/kvstore/worker.h"

namespace mxc {

struct KvstoreJob {
  uint32_t servers = 1;
  kvstore::KeyTable keys;
  kvstore::Settings settings;  // keys: filled in
  // In a server's process.
  std::function<std::unique_ptr<kvstore::Shelf>()> make_shelf;
  // In a worker's: what went wrong, or nothing.
  std::function<std::string(uint32_t rank, kvstore::Worker&)> work;
};

// What went wrong first; empty if nothing did.
std::string RunKvstoreJob(KvstoreJob job);

}  // namespace mxc
