// SPDX-License-Identifier: Apache-2.0
// usage: decode_bench ARTIFACT BYTES [POSITION [THREADS]]
// Tokens a second of an artifact that writes texts (mxc compile --streams), and
// how much of the memory's rate that is, if a token reads BYTES of weights: after
// each token as many bytes of other memory are read, so that both meet the same
// load of the machine. All streams decode at POSITION.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/mxc.hpp"

namespace mxc {
namespace {

constexpr int kTokens = 50;

// Read whole by several threads, from huge pages where the system has them.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 1, bytes);
    memory_ = static_cast<const char*>(memory);
  }

  void Read(int threads) const {
    std::vector<std::thread> readers;
    for (int t = 1; t < threads; ++t) {
      readers.emplace_back([this, t, threads] { ReadPart(t, threads); });
    }
    ReadPart(0, threads);
    for (std::thread& reader : readers) reader.join();
  }

 private:
  // By the vectors of libc: no byte is found.
  void ReadPart(int part, int parts) const {
    const size_t bytes = bytes_ / parts;
    if (std::memchr(memory_ + part * bytes, 2, bytes) != nullptr) std::abort();
  }

  const size_t bytes_;
  const char* memory_ = nullptr;
};

double Seconds(auto&& run) {
  const int64_t begin = runtime::Nanoseconds();
  run();
  return runtime::SecondsOf(runtime::Nanoseconds() - begin);
}

double MedianOf(std::vector<double>& seconds) {
  const auto middle = seconds.begin() + seconds.size() / 2;
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

api::Executor Bind(const api::Model& model, int threads, int32_t position) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.entry = "decode";
  options.threads = threads;
  api::Executor executor(model, options);
  const auto streams = static_cast<size_t>(model.entry(executor.entry()).batch);
  const std::vector<float> tokens(streams);
  const std::vector<int32_t> positions(streams, position);
  executor.SetInput("data", std::span(tokens));
  executor.SetInput("position", std::span(positions));
  return executor;
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: decode_bench ARTIFACT BYTES [POSITION [THREADS]]\n");
    return 2;
  }
  const auto bytes = static_cast<size_t>(std::atoll(argv[2]));
  const int position = argc > 3 ? std::atoi(argv[3]) : 0;
  const int threads = argc > 4 ? std::atoi(argv[4]) : 1;
  const api::Model model(argv[1]);
  api::Executor executor = Bind(model, threads, position);
  const Memory memory(bytes);
  executor.Run();
  std::vector<double> token, read;
  for (int i = 0; i < kTokens; ++i) {
    token.push_back(Seconds([&] { executor.Run(); }));
    read.push_back(Seconds([&] { memory.Read(threads); }));
  }
  const double least_token = std::ranges::min(token);
  const double least_read = std::ranges::min(read);
  const double median_token = MedianOf(token), median_read = MedianOf(read);
  const auto rate = [&](double seconds) {
    return static_cast<double>(bytes) / seconds * 1e-9;
  };
  std::printf(
      "position %d, %d threads: %.1f steps/s, %.2f of %.2f GB/s (%.0f %%); at "
      "best %.1f steps/s, %.2f of %.2f GB/s (%.0f %%)\n",
      position, threads, 1 / median_token, rate(median_token),
      rate(median_read), 100 * median_read / median_token, 1 / least_token,
      rate(least_token), rate(least_read), 100 * least_read / least_token);
  return 0;
}

}  // namespace
}  // namespace mxc

int main(int argc, char** argv) { return mxc::Main(argc, argv); }
