// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/worker.h"

#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/start_thread.h"
#include "runtime/base/trace.h"

namespace mxc::kvstore {

Worker::Worker(Transport& transport, const KeyTable& keys,
               const ClientOptions& options)
    : transport_(transport), client_(transport, keys, options) {
  for (const KeySpec& key : keys) names_.push_back(key.name);
  thread_ = runtime::StartThread("exchanges gradients", [this] { Loop(); });
}

Worker::~Worker() {
  Begin([this](Client&) { stop_ = true; });
  thread_.join();
}

void Worker::Loop() {
  runtime::Trace::NameThread("communication");
  std::unique_lock lock(mutex_);
  while (!stop_ && status_.ok()) {
    status_ = Pump();
    NoteArrivals();
    changed_.notify_all();
    const auto interests = client_.interests();
    const Time deadline = client_.deadline();
    if (!status_.ok() || client_.finished()) return;
    lock.unlock();
    transport_.Wait(interests, deadline);
    lock.lock();
  }
}

Status Worker::Pump() {
  const runtime::TraceSpan span("send and receive", "communication");
  return client_.Pump();
}

void Worker::NoteArrivals() {
  std::erase_if(flights_, [this](const Flight& flight) {
    if (!client_.idle(flight.key)) return false;
    runtime::Trace::AddBeside(names_[flight.key], "communication", flight.begin,
                              runtime::Nanoseconds());
    return true;
  });
}

void Worker::Begin(const std::function<void(Client&)>& call) {
  {
    const std::lock_guard lock(mutex_);
    call(client_);
  }
  transport_.Wake();
}

Status Worker::WaitFor(const std::function<bool(const Client&)>& done) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !status_.ok() || done(client_); });
  return status_;
}

void Worker::Init(uint32_t key, Bytes value) {
  Begin([&](Client& client) { client.Init(key, value); });
}

void Worker::Push(uint32_t key, std::span<const float> gradient, double rate,
                  int64_t priority) {
  Begin([&](Client& c) { c.Push(key, gradient, rate, priority); });
}

void Worker::Pull(uint32_t key, std::span<std::byte> out, int64_t priority) {
  Begin([&](Client& c) { c.Pull(key, out, priority); });
}

void Worker::PushPull(uint32_t key, std::span<const float> gradient,
                      double rate, std::span<std::byte> out, int64_t priority) {
  Begin([&](Client& c) {
    if (runtime::Trace::on()) flights_.push_back({key, runtime::Nanoseconds()});
    c.PushPull(key, gradient, rate, out, priority);
  });
}

void Worker::PushRows(uint32_t key, const Rows& gradient, double rate,
                      int64_t priority) {
  Begin([&](Client& c) { c.PushRows(key, gradient, rate, priority); });
}

void Worker::PullRows(uint32_t key, std::span<const uint64_t> numbers,
                      std::span<float> out, int64_t priority) {
  Begin([&](Client& c) { c.PullRows(key, numbers, out, priority); });
}

void Worker::PullChanges(uint32_t key, std::span<std::byte> out,
                         int64_t priority) {
  Begin([&](Client& c) { c.PullChanges(key, out, priority); });
}

StatusOr<uint64_t> Worker::Join() {
  Begin([](Client& client) { client.Join(); });
  MXC_RT_RETURN_IF_ERROR(Wait());
  const std::lock_guard lock(mutex_);
  return client_.joined();
}

bool Worker::replaces() {
  const std::lock_guard lock(mutex_);
  return client_.replaces();
}

std::span<float> Worker::Residual(uint32_t key) {
  const std::lock_guard lock(mutex_);
  return client_.Residual(key);
}

Status Worker::Wait() {
  return WaitFor([](const Client& client) { return client.idle(); });
}

Status Worker::Wait(uint32_t key) {
  return WaitFor([key](const Client& client) { return client.idle(key); });
}

Status Worker::Finish() {
  MXC_RT_RETURN_IF_ERROR(Wait());
  Begin([](Client& client) { client.Finish(); });
  return WaitFor([](const Client& client) { return client.finished(); });
}

void Worker::Abort(const std::string& sentence) {
  Begin([&](Client& client) { client.Abort(sentence); });
}

}  // namespace mxc::kvstore
