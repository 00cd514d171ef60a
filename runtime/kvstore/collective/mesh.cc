// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/mesh.h"

#include <utility>

namespace mxc::kvstore {

Mesh::Mesh(std::unique_ptr<Transport> transport, MeshOptions options)
    : rank_(options.rank),
      workers_(options.workers),
      transport_(std::move(transport)),
      loop_(std::make_unique<MeshLoop>(*transport_, std::move(options))),
      thread_([this] { Run(); }) {}

Mesh::~Mesh() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  transport_->Wake();
  thread_.join();
}

Status Mesh::AwaitAll() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return connected_ || !failed_.ok(); });
  return failed_;
}

void Mesh::Break() {
  {
    const std::lock_guard lock(mutex_);
    break_ = true;
  }
  transport_->Wake();
}

void Mesh::Begin(MeshRequest request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  transport_->Wake();
}

// A message that is sent is only read.
void Mesh::Send(uint32_t to, uint64_t slot, Bytes bytes, Done done) {
  auto* const data = const_cast<std::byte*>(bytes.data());
  Begin({true, to, slot, {data, bytes.size()}, std::move(done)});
}

void Mesh::Receive(uint32_t from, uint64_t slot, std::span<std::byte> bytes,
                   Done done) {
  Begin({false, from, slot, bytes, std::move(done)});
}

void Mesh::Run() {
  constexpr Time kFarewell = 2 * kSecond;
  Time stopped = 0;
  while (true) {
    std::vector<MeshRequest> requests;
    bool stop = false, breaks = false;
    {
      const std::lock_guard lock(mutex_);
      requests.swap(requests_);
      stop = stop_;
      breaks = break_;
    }
    if (breaks) loop_->Break(Fail(StatusCode::kFailed, "the worker ends"));
    const Status status = loop_->Pump(std::move(requests));
    {
      const std::lock_guard lock(mutex_);
      failed_ = status;
      connected_ = loop_->connected();
    }
    changed_.notify_all();
    const Time now = transport_->Now();
    if (stop && stopped == 0) {
      stopped = now;
      loop_->Leave();
      continue;
    }
    if (stop && (loop_->over() || now - stopped > kFarewell)) return;
    transport_->Wait(loop_->interests(), loop_->deadline());
  }
}

}  // namespace mxc::kvstore
