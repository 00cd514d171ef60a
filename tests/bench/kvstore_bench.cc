// SPDX-License-Identifier: Apache-2.0
// Seconds of push + pull between workers and one server, each a process, over
// TCP on this machine: kvstore_bench [WORKERS]. Loopback says what the software
// costs, nothing about a network.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/sockets.h"
#include "runtime/kvstore/worker.h"

namespace mxc::kvstore {
namespace {

constexpr int kTimes = 6;

template <class T>
T Value(StatusOr<T> value) {
  if (value.ok()) return std::move(*value);
  std::fprintf(stderr, "%s\n", value.status().message().c_str());
  std::exit(1);
}

struct Bench {
  uint32_t workers;
  uint64_t megabytes;
  bool encrypted;
  Credentials secret;

  KeyTable Keys() const {
    return {{"key", megabytes * 1'000'000, true, 0, false}};
  }
  Settings Agreed() const {
    Settings settings;
    settings.workers = workers;
    settings.keys = Digest(Keys());
    return settings;
  }
};

int Serve(const Bench& bench, Transport& transport, Listener& listener) {
  const KeyTable keys = bench.Keys();
  PlainShelf shelf(keys);
  const auto tls = Value(Tls::Make(Side::kServer, bench.secret));
  Server server(
      transport, listener, keys, shelf,
      {bench.Agreed(), {}, bench.encrypted ? tls.get() : nullptr, ""});
  return Serve(server, transport).ok() ? 0 : 1;
}

int Work(const Bench& bench, uint32_t rank, const std::string& address) {
  const KeyTable keys = bench.Keys();
  const auto transport = Value(MakeSockets());
  Credentials own{WorkerIdentity(rank), {}};
  own.key = DeriveKey(bench.secret.key, own.identity);
  const auto tls = Value(Tls::Make(Side::kClient, own));
  ClientOptions options;
  options.rank = rank;
  options.servers = {address};
  options.settings = bench.Agreed();
  if (bench.encrypted) options.tls = tls.get();
  Worker worker(*transport, keys, options);
  std::vector<float> value(keys[0].elements(), 1), out(value.size());
  const auto bytes = std::as_writable_bytes(std::span(out));
  if (rank == 0) worker.Init(0, std::as_bytes(std::span(value)));
  worker.Pull(0, bytes);
  int64_t best = INT64_MAX;
  for (int i = 0; i < kTimes && worker.Wait().ok(); ++i) {
    const int64_t start = runtime::Nanoseconds();
    worker.PushPull(0, value, 1, bytes);
    if (!worker.Wait().ok()) return 1;
    best = std::min(best, runtime::Nanoseconds() - start);
  }
  if (rank == 0) {
    const double seconds = double(best) * 1e-9;
    std::printf("%4llu MB %s: %6.1f ms, %5.2f GB/s each way at the server\n",
                static_cast<unsigned long long>(bench.megabytes),
                bench.encrypted ? "TLS  " : "plain", seconds * 1e3,
                double(bench.megabytes) * 1e-3 * bench.workers / seconds);
    std::fflush(stdout);
  }
  return worker.Finish().ok() ? 0 : 1;
}

void Run(const Bench& bench) {
  const auto transport = Value(MakeSockets());
  auto listener = Value(transport->Listen("127.0.0.1:0"));
  const std::string address = listener->address();
  if (fork() == 0) _exit(Serve(bench, *transport, *listener));
  for (uint32_t rank = 0; rank < bench.workers; ++rank) {
    if (fork() == 0) {
      listener.reset();
      _exit(Work(bench, rank, address));
    }
  }
  int status = 0;
  while (wait(&status) > 0) {
    if (status != 0) std::fprintf(stderr, "a process failed\n");
  }
}

}  // namespace
}  // namespace mxc::kvstore

int main(int argc, char** argv) {
  using namespace mxc::kvstore;
  const auto workers = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 2);
  const Credentials secret = Value(MakeSecret());
  for (const uint64_t megabytes : {16, 64, 100}) {
    for (const bool encrypted : {false, true}) {
      Run({workers, megabytes, encrypted, secret});
    }
  }
}
