// SPDX-License-Identifier: Apache-2.0
// Seconds of a sum over workers, each a process, over TCP on this machine:
// gloo's ring over the connections of a job, in the clear and under TLS, beside
// the same ring over gloo's own connections: allreduce_bench [WORKERS].
// Loopback says what the software costs, nothing about a network.
#include <gloo/allreduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/kvstore/collective/all_reduce.h"
#include "runtime/kvstore/transport/sockets.h"

namespace mxc::kvstore {
namespace {

constexpr int kTimes = 9;
constexpr size_t kKilobytes[] = {64, 256, 1'000, 16'000, 100'000};

template <class T>
T Value(StatusOr<T> value) {
  if (value.ok()) return std::move(*value);
  std::fprintf(stderr, "%s\n", value.status().message().c_str());
  std::exit(1);
}

// Sums the values over all workers; false: it cannot.
using Sum = std::function<bool(std::span<float>)>;

// On each worker; the first one tells.
int Measure(const char* name, uint32_t rank, uint32_t workers, const Sum& sum) {
  for (const size_t kilobytes : kKilobytes) {
    std::vector<float> values(kilobytes * 1'000 / sizeof(float));
    std::vector<double> times;
    for (int i = 0; i < kTimes; ++i) {
      std::ranges::fill(values, static_cast<float>(rank + 1));
      float together = 0;
      if (!sum({&together, 1})) return 1;
      const int64_t start = runtime::Nanoseconds();
      if (!sum(values)) return 1;
      times.push_back(double(runtime::Nanoseconds() - start) * 1e-9);
      const auto expected = static_cast<float>(workers * (workers + 1) / 2);
      if (values.front() != expected || values.back() != expected) return 1;
    }
    std::ranges::sort(times);
    if (rank > 0) continue;
    std::printf("%6zu KB %-12s best %7.2f ms, median %7.2f ms\n", kilobytes,
                name, times.front() * 1e3, times[kTimes / 2] * 1e3);
    std::fflush(stdout);
  }
  return 0;
}

int OwnRing(uint32_t rank, uint32_t workers, const std::string& folder) {
  gloo::transport::tcp::attr attributes("127.0.0.1");
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  const auto context = std::make_shared<gloo::rendezvous::Context>(
      static_cast<int>(rank), static_cast<int>(workers));
  gloo::rendezvous::FileStore store(folder);
  context->connectFullMesh(store, device);
  uint32_t tag = 0;
  return Measure("gloo's own", rank, workers, [&](std::span<float> values) {
    gloo::AllreduceOptions options(context);
    options.setOutput(values.data(), values.size());
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setReduceFunction(
        [](void* to, const void* a, const void* b, size_t count) {
          auto* sum = static_cast<float*>(to);
          const auto* one = static_cast<const float*>(a);
          const auto* other = static_cast<const float*>(b);
          for (size_t i = 0; i < count; ++i) sum[i] = one[i] + other[i];
        });
    options.setTag(tag++);
    gloo::allreduce(options);
    return true;
  });
}

// What a launcher and a server settle in a job.
struct Meeting {
  bool encrypted;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<Credentials> secrets;

  Meeting(uint32_t workers, bool encrypted) : encrypted(encrypted) {
    const auto transport = Value(MakeSockets());
    for (uint32_t rank = 0; rank < workers; ++rank) {
      listeners.push_back(Value(transport->Listen("127.0.0.1:0")));
      secrets.push_back(Value(MakeSecret()));
    }
  }
};

int OurRing(Meeting& meeting, uint32_t rank, uint32_t workers) {
  MeshOptions options;
  options.rank = rank;
  options.workers = workers;
  options.listener = std::move(meeting.listeners[rank]);
  if (meeting.encrypted) {
    options.accepting = Value(Tls::Make(Side::kServer, meeting.secrets[rank]));
  }
  for (uint32_t before = 0; before < rank; ++before) {
    MeshPeer peer{before, meeting.listeners[before]->address(), nullptr};
    Credentials own{WorkerIdentity(rank), {}};
    own.key = DeriveKey(meeting.secrets[before].key, own.identity);
    if (meeting.encrypted) peer.tls = Value(Tls::Make(Side::kClient, own));
    options.peers.push_back(std::move(peer));
  }
  const auto all_reduce = Value(AllReduce::Make(
      std::make_unique<Mesh>(Value(MakeSockets()), std::move(options))));
  return Measure(meeting.encrypted ? "ours, TLS" : "ours, plain", rank, workers,
                 [&](std::span<float> values) {
                   all_reduce->Begin(values);
                   return all_reduce->Wait().ok();
                 });
}

void OnAll(uint32_t workers, const std::function<int(uint32_t rank)>& work) {
  for (uint32_t rank = 0; rank < workers; ++rank) {
    if (fork() == 0) _exit(work(rank));
  }
  int status = 0;
  while (wait(&status) > 0) {
    if (status != 0) std::fprintf(stderr, "a process failed\n");
  }
}

int Main(int argc, char** argv) {
  const auto workers = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 2);
  char folder[] = "/tmp/mxc-allreduce-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  OnAll(workers, [&](uint32_t rank) { return OwnRing(rank, workers, folder); });
  std::filesystem::remove_all(folder);
  for (const bool encrypted : {false, true}) {
    Meeting meeting(workers, encrypted);
    OnAll(workers,
          [&](uint32_t rank) { return OurRing(meeting, rank, workers); });
  }
  return 0;
}

}  // namespace
}  // namespace mxc::kvstore

int main(int argc, char** argv) { return mxc::kvstore::Main(argc, argv); }
