// SPDX-License-Identifier: Apache-2.0
// A worker as the member of a pipeline: what its steps send goes to other
// workers over a mesh.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/device/collective.h"
#include "runtime/job/status.h"
#include "runtime/kvstore/collective/mesh.h"

namespace mxc::job {

class MeshMember final : public runtime::HostMember {
 public:
  explicit MeshMember(std::unique_ptr<kvstore::Mesh> mesh)
      : mesh_(std::move(mesh)) {}

  size_t number() const override { return mesh_->rank(); }
  size_t count() const override { return mesh_->workers(); }
  void Sum(const runtime::CollectiveTensor&) override { RefuseSums(); }
  void SumPart(const runtime::CollectiveTensor&) override { RefuseSums(); }
  void Gather(const runtime::CollectiveTensor&) override { RefuseSums(); }
  // Copies, and returns.
  void Send(const void* from, uint64_t bytes, size_t device) override;
  void Receive(void* to, uint64_t bytes, size_t device) override;
  Status status() const override { return status_; }

  kvstore::Mesh& mesh() const { return *mesh_; }

 private:
  void RefuseSums();

  const std::unique_ptr<kvstore::Mesh> mesh_;
  Status status_;
};

}  // namespace mxc::job
