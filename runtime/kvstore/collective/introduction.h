// SPDX-License-Identifier: Apache-2.0
// How the workers of a job come to a mesh: by keys of the store. A worker gives
// each one behind it a value that only that one may have: where it listens, and
// a key to prove by who connects. Servers, which know whom they talk to, thus
// vouch for workers to each other.
#pragma once

#include <memory>
#include <string>

#include "runtime/kvstore/collective/mesh.h"
#include "runtime/kvstore/worker.h"

namespace mxc::kvstore {

// Adds what workers tell each other; returns the first of these keys.
uint32_t AddMeshKeys(KeyTable& keys, uint32_t workers);

struct Introduction {
  uint32_t rank = 0, workers = 1;
  uint32_t first_key = 0;  // of AddMeshKeys
  std::string server;      // the address of one
  bool encrypted = true;
  uint64_t most_early = kMostEarly;  // MeshOptions
};

// Once for each worker of a job.
StatusOr<std::unique_ptr<Mesh>> MakeMesh(Worker& worker,
                                         const Introduction& introduction);

}  // namespace mxc::kvstore
