// SPDX-License-Identifier: Apache-2.0
#include "ir/support/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace mxc {

void RunOnThreads(int threads, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    for (int i = 1; i < threads; ++i) others.emplace_back(guarded);
  } catch (const std::system_error&) {  // fewer do it, too
  }
  guarded();
  for (std::thread& thread : others) thread.join();
  if (thrown) std::rethrow_exception(thrown);
}

void ForParts(int64_t count, double cost,
              const std::function<void(int64_t, int64_t)>& work) {
  constexpr double kWorthThread = 1e6;   // operations; to begin one takes 50 us
  constexpr int64_t kPartsOfThread = 4;  // so that none waits long for others
  const double worth = static_cast<double>(count) * cost / kWorthThread;
  const auto threads = static_cast<int64_t>(
      std::min<double>(worth, std::thread::hardware_concurrency()));
  if (threads < 2) {
    work(0, count);
    return;
  }
  const int64_t parts = std::min(count, threads * kPartsOfThread);
  std::atomic<int64_t> next = 0;
  RunOnThreads(static_cast<int>(threads), [&] {
    for (int64_t part = next++; part < parts; part = next++) {
      work(count * part / parts, count * (part + 1) / parts);
    }
  });
}

}  // namespace mxc
