// SPDX-License-Identifier: Apache-2.0
// Seconds of push + pull between workers and one server, each a process, over
// TCP on this machine, beside a bare TCP connection that carries bytes one way:
// kvstore_bench [WORKERS]. Loopback says what the software costs, nothing about
// a network.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/sockets.h"
#include "runtime/kvstore/worker.h"

namespace mxc::kvstore {
namespace {

constexpr int kTimes = 9;

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
  double bare;  // GB/s of a bare connection

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

// In the child that measures: the parent reads it. One round may seem short
// because the other workers have begun it earlier: the mean counts, of all but
// the first, which touches memory that is new.
void Report(const Bench& bench, const std::vector<double>& times) {
  const double mean =
      std::accumulate(times.begin() + 1, times.end(), 0.0) / (kTimes - 1);
  const double gigabytes = 2 * bench.workers * double(bench.megabytes) * 1e-3;
  std::printf(
      "%4llu MB %s: mean %6.1f ms, best %6.1f ms: %5.2f GB/s through the "
      "server, %3.0f %% of bare TCP",
      static_cast<unsigned long long>(bench.megabytes),
      bench.encrypted ? "TLS  " : "plain", mean * 1e3,
      *std::ranges::min_element(times) * 1e3, gigabytes / mean,
      100 * gigabytes / mean / bench.bare);
  std::fflush(stdout);
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
  std::vector<double> times;
  for (int i = 0; i < kTimes && worker.Wait().ok(); ++i) {
    const int64_t start = runtime::Nanoseconds();
    worker.PushPull(0, value, 1, bytes);
    if (!worker.Wait().ok()) return 1;
    times.push_back(double(runtime::Nanoseconds() - start) * 1e-9);
  }
  if (rank == 0) Report(bench, times);
  return worker.Finish().ok() ? 0 : 1;
}

// Processor seconds of all children that have ended.
double ChildrenSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void AwaitChildren() {
  int status = 0;
  while (wait(&status) > 0) {
    if (status != 0) std::fprintf(stderr, "a process failed\n");
  }
}

void Run(const Bench& bench) {
  const auto transport = Value(MakeSockets());
  auto listener = Value(transport->Listen("127.0.0.1:0"));
  const std::string address = listener->address();
  const double begun = ChildrenSeconds();
  if (fork() == 0) _exit(Serve(bench, *transport, *listener));
  for (uint32_t rank = 0; rank < bench.workers; ++rank) {
    if (fork() == 0) {
      listener.reset();
      _exit(Work(bench, rank, address));
    }
  }
  AwaitChildren();
  // Beside the rounds, the first value goes to all and comes from one.
  const double gigabytes =
      double(bench.megabytes) * 1e-3 * (bench.workers * (2 * kTimes + 1) + 1);
  std::printf(", %4.2f CPU-s/GB\n", (ChildrenSeconds() - begun) / gigabytes);
  std::fflush(stdout);
}

// GB/s, one way, from one process to another, in pieces as frames have them.
double BareTcp() {
  constexpr size_t kBytes = 400'000'000, kPiece = kMaxPayload;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, name, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, name, &size) != 0) {
    std::exit(1);
  }
  const double cpu = ChildrenSeconds();
  if (fork() == 0) {
    const int out = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(out, name, size) != 0) _exit(1);
    const std::vector<std::byte> piece(kPiece);
    for (size_t sent = 0; sent < kBytes;) {
      const ssize_t count = send(out, piece.data(), kPiece, 0);
      if (count <= 0) _exit(1);
      sent += static_cast<size_t>(count);
    }
    _exit(0);
  }
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  if (fork() == 0) {
    const int in = accept(listener, nullptr, nullptr);
    std::vector<std::byte> piece(kPiece);
    const int64_t start = runtime::Nanoseconds();
    size_t total = 0;
    for (ssize_t count = 1; count > 0; total += static_cast<size_t>(count)) {
      count = recv(in, piece.data(), kPiece, 0);
    }
    const double rate = double(total) / double(runtime::Nanoseconds() - start);
    _exit(write(ends[1], &rate, sizeof rate) == sizeof rate ? 0 : 1);
  }
  AwaitChildren();
  double rate = 0;
  if (read(ends[0], &rate, sizeof rate) != sizeof rate) std::exit(1);
  for (const int fd : {listener, ends[0], ends[1]}) close(fd);
  std::printf("bare TCP, one way: %5.2f GB/s, %4.2f CPU-s/GB\n", rate,
              (ChildrenSeconds() - cpu) / (kBytes * 1e-9));
  std::fflush(stdout);
  return rate;
}

}  // namespace
}  // namespace mxc::kvstore

int main(int argc, char** argv) {
  using namespace mxc::kvstore;
  const auto workers = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 2);
  const Credentials secret = Value(MakeSecret());
  const double bare = BareTcp();
  for (const uint64_t megabytes : {16, 64, 100}) {
    for (const bool encrypted : {false, true}) {
      Run({workers, megabytes, encrypted, secret, bare});
    }
  }
}
