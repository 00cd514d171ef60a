// SPDX-License-Identifier: Apache-2.0
// Lets a step ask for connections to all workers without knowing the job.
#pragma once

#include <functional>
#include <memory>

#include "runtime/job/status.h"
#include "runtime/kvstore/collective/mesh.h"

namespace mxc::job {

// Introduces a worker to the others (JobNode::MakeMesh); waits for them.
using MeshMaker = std::function<StatusOr<std::unique_ptr<kvstore::Mesh>>()>;

}  // namespace mxc::job
