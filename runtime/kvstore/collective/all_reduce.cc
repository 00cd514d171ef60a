// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/all_reduce.h"

#include <array>
#include <utility>

#include "runtime/base/dynamic_library.h"
#include "runtime/kvstore/gloo/plugin.h"

namespace mxc::kvstore {
namespace {

using Sentence = std::array<char, 512>;

struct Gloo {
  decltype(&mxc_gloo_open) open = nullptr;
  decltype(&mxc_gloo_sum) sum = nullptr;
  decltype(&mxc_gloo_close) close = nullptr;
};

StatusOr<Gloo> LoadGloo() {
  Gloo gloo;
  const runtime::WantedFunction wanted[] = {
      {"mxc_gloo_open", reinterpret_cast<void**>(&gloo.open)},
      {"mxc_gloo_sum", reinterpret_cast<void**>(&gloo.sum)},
      {"mxc_gloo_close", reinterpret_cast<void**>(&gloo.close)}};
  MXC_RT_RETURN_IF_ERROR(runtime::LoadFunctions(
      "libmxc_gloo.so", "a job that sums by allreduce",
      "libgloo0, and mxc built with libgloo-dev", wanted));
  return gloo;
}

// Loaded once for the process and never unloaded.
const StatusOr<Gloo>& TheGloo() {
  static const StatusOr<Gloo> loaded = LoadGloo();
  return loaded;
}

Inbox::Done Calling(mxc_mesh_done done, void* argument) {
  return [done, argument](const Status& status) {
    done(argument, status.ok() ? nullptr : status.message().c_str());
  };
}

void Send(void* self, int32_t to, uint64_t slot, const void* bytes,
          uint64_t size, mxc_mesh_done done, void* argument) {
  static_cast<Mesh*>(self)->Send(static_cast<uint32_t>(to), slot,
                                 {static_cast<const std::byte*>(bytes), size},
                                 Calling(done, argument));
}

void Receive(void* self, int32_t from, uint64_t slot, void* bytes,
             uint64_t size, mxc_mesh_done done, void* argument) {
  static_cast<Mesh*>(self)->Receive(static_cast<uint32_t>(from), slot,
                                    {static_cast<std::byte*>(bytes), size},
                                    Calling(done, argument));
}

}  // namespace

AllReduce::AllReduce(std::unique_ptr<Mesh> mesh)
    : mesh_(std::move(mesh)),
      calls_(std::make_unique<mxc_mesh>(
          mxc_mesh{mesh_.get(), static_cast<int32_t>(mesh_->rank()),
                   static_cast<int32_t>(mesh_->workers()), Send, Receive})) {}

StatusOr<std::unique_ptr<AllReduce>> AllReduce::Make(
    std::unique_ptr<Mesh> mesh) {
  std::unique_ptr<AllReduce> made(new AllReduce(std::move(mesh)));
  MXC_RT_RETURN_IF_ERROR(made->mesh_->AwaitAll());
  if (made->mesh_->workers() > 1) MXC_RT_RETURN_IF_ERROR(made->Load());
  made->thread_.emplace(*made->mesh_);
  return made;
}

Status AllReduce::Load() {
  if (!TheGloo().ok()) return TheGloo().status();
  Sentence error = {};
  gloo_ = TheGloo()->open(calls_.get(), error.data(), error.size());
  if (gloo_ != nullptr) return {};
  return Fail(StatusCode::kFailed, "gloo: %s", error.data());
}

AllReduce::~AllReduce() {
  thread_.reset();
  if (gloo_ != nullptr) TheGloo()->close(gloo_);
}

Status AllReduce::Sum(std::span<float> values) {
  if (gloo_ == nullptr || values.empty()) return {};
  Sentence error = {};
  if (TheGloo()->sum(gloo_, values.data(), values.size(), error.data(),
                     error.size()) == 0) {
    return {};
  }
  return Fail(StatusCode::kIo, "the sum over all workers: %s", error.data());
}

}  // namespace mxc::kvstore
