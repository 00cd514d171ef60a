// SPDX-License-Identifier: Apache-2.0
// Seconds of push + pull of one key between workers and one server, each a
// process, over TCP on this machine; each beside a bare TCP connection that
// carries bytes one way at the same moment, from a piece of memory that stays in
// a cache to another: kvstore_bench [WORKERS [ROUNDS [MB]]], with MB of that size
// alone, in the clear. At the end the medians of all rounds, whose cases come in
// turn. Loopback says what the software
// costs, nothing about a network.
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
constexpr size_t kBareBytes = kMaxPayload * 1024;

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
  uint64_t slice;  // Settings::slice; jobs have 65,536
  Credentials secret;

  KeyTable Keys() const {
    return {{"key", megabytes * 1'000'000, true, 0, false}};
  }
  Settings Agreed() const {
    Settings settings;
    settings.workers = workers;
    settings.slice = slice;
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

// One round may seem short because the other workers have begun it earlier: the
// mean counts, of all but the first, which touches memory that is new.
struct Seconds {
  double mean = 0, best = 0;
};

Seconds SecondsOf(const std::vector<double>& times) {
  return {std::accumulate(times.begin() + 1, times.end(), 0.0) / (kTimes - 1),
          *std::ranges::min_element(times)};
}

// The first worker writes its Seconds to `to`.
int Work(const Bench& bench, uint32_t rank, const std::string& address,
         int to) {
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
  const Seconds seconds = SecondsOf(times);
  if (rank == 0 && write(to, &seconds, sizeof seconds) != sizeof seconds) {
    return 1;
  }
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

void Send(const sockaddr_in& address, size_t memory) {
  const int out = socket(AF_INET, SOCK_STREAM, 0);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (connect(out, name, sizeof address) != 0) _exit(1);
  const std::vector<std::byte> bytes(memory, std::byte{1});
  for (size_t sent = 0; sent < kBareBytes;) {
    const ssize_t count =
        send(out, bytes.data() + sent % memory, kMaxPayload, 0);
    if (count != kMaxPayload) _exit(1);
    sent += static_cast<size_t>(count);
  }
}

double Receive(int listener, size_t memory) {
  const int in = accept(listener, nullptr, nullptr);
  std::vector<std::byte> bytes(memory, std::byte{1});
  const int64_t start = runtime::Nanoseconds();
  size_t total = 0;
  for (ssize_t count = 1; count > 0; total += static_cast<size_t>(count)) {
    const size_t at = total % memory;
    count = recv(in, bytes.data() + at, std::min(kMaxPayload, memory - at), 0);
  }
  return double(total) / double(runtime::Nanoseconds() - start);
}

// GB/s, one way, from one process to another, in pieces as frames have them,
// from so many bytes of memory to as many.
double BareTcp(size_t memory) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  int ends[2];
  if (bind(listener, name, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, name, &size) != 0 || pipe(ends) != 0) {
    std::exit(1);
  }
  if (fork() == 0) {
    Send(address, memory);
    _exit(0);
  }
  if (fork() == 0) {
    const double rate = Receive(listener, memory);
    _exit(write(ends[1], &rate, sizeof rate) == sizeof rate ? 0 : 1);
  }
  AwaitChildren();
  double rate = 0;
  if (read(ends[0], &rate, sizeof rate) != sizeof rate) std::exit(1);
  for (const int fd : {listener, ends[0], ends[1]}) close(fd);
  return rate;
}

std::string NameOf(const Bench& bench) {
  return Format("%4d MB %s %s", static_cast<int>(bench.megabytes),
                bench.slice > 0 ? "in slices" : "whole    ",
                bench.encrypted ? "TLS  " : "plain");
}

// The rate that goes through the server, of bare TCP's.
double Run(const Bench& bench) {
  const double bare = BareTcp(kMaxPayload);
  const auto transport = Value(MakeSockets());
  auto listener = Value(transport->Listen("127.0.0.1:0"));
  const std::string address = listener->address();
  const double begun = ChildrenSeconds();
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  if (fork() == 0) _exit(Serve(bench, *transport, *listener));
  for (uint32_t rank = 0; rank < bench.workers; ++rank) {
    if (fork() == 0) {
      listener.reset();
      _exit(Work(bench, rank, address, ends[1]));
    }
  }
  AwaitChildren();
  Seconds seconds;
  if (read(ends[0], &seconds, sizeof seconds) != sizeof seconds) std::exit(1);
  for (const int fd : ends) close(fd);
  const double key = double(bench.megabytes) * 1e-3;  // GB
  // Beside the rounds, the first value goes to all and comes from one.
  const double moved = key * (bench.workers * (2 * kTimes + 1) + 1);
  const double share = 2 * bench.workers * key / seconds.mean / bare;
  std::printf(
      "%s: mean %6.1f ms, best %6.1f ms: %3.0f %% of bare TCP's %4.2f GB/s, "
      "%4.2f CPU-s/GB\n",
      NameOf(bench).c_str(), seconds.mean * 1e3, seconds.best * 1e3,
      100 * share, bare, (ChildrenSeconds() - begun) / moved);
  std::fflush(stdout);
  return share;
}

void RunAll(uint32_t workers, int rounds, uint64_t only) {
  const Credentials secret = Value(MakeSecret());
  constexpr size_t kArray = kMaxPayload * 256;
  std::vector<Bench> cases;
  std::vector<uint64_t> sizes = {16, 64, 100};
  if (only > 0) sizes = {only};
  for (const uint64_t megabytes : sizes) {
    for (const bool encrypted : {false, true}) {
      if (encrypted && only > 0) continue;
      for (const uint64_t slice : {0, 1 << 16}) {
        cases.push_back({workers, megabytes, encrypted, slice, secret});
      }
    }
  }
  std::vector<std::vector<double>> shares(cases.size());
  for (int round = 0; round < rounds; ++round) {
    std::printf("bare TCP between arrays of 64 MiB: %4.2f GB/s\n",
                BareTcp(kArray));
    for (size_t i = 0; i < cases.size(); ++i) {
      shares[i].push_back(Run(cases[i]));
    }
  }
  for (size_t i = 0; i < cases.size() && rounds > 1; ++i) {
    std::ranges::sort(shares[i]);
    std::printf("%s: median %3.0f %%, %3.0f to %3.0f %%\n",
                NameOf(cases[i]).c_str(), 100 * shares[i][shares[i].size() / 2],
                100 * shares[i].front(), 100 * shares[i].back());
  }
}

}  // namespace
}  // namespace mxc::kvstore

int main(int argc, char** argv) {
  mxc::kvstore::RunAll(static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 2),
                       argc > 2 ? std::atoi(argv[2]) : 1,
                       argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0);
}
