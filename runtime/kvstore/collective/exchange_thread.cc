// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/exchange_thread.h"

#include <utility>

#include "runtime/base/start_thread.h"

namespace mxc::kvstore {

ExchangeThread::ExchangeThread(Mesh& mesh)
    : mesh_(mesh),
      thread_(runtime::StartThread("sums gradients", [this] { Loop(); })) {}

ExchangeThread::~ExchangeThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (done_ < begun_) mesh_.Break();
  }
  changed_.notify_all();
  thread_.join();
}

void ExchangeThread::Begin(Exchange exchange) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(exchange));
    ++begun_;
  }
  changed_.notify_all();
}

Status ExchangeThread::Wait(uint64_t exchanges) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= exchanges || !failed_.ok(); });
  return done_ >= exchanges ? Status() : failed_;
}

void ExchangeThread::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_ || !failed_.ok()) return;
    const Exchange exchange = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const Status status = exchange();
    lock.lock();
    failed_ = status;
    done_ += status.ok() ? 1 : 0;
    changed_.notify_all();
  }
}

}  // namespace mxc::kvstore
