// SPDX-License-Identifier: Apache-2.0
// What a training step really takes, against what its plan says:
//   resident TRAINING.mxa
// Fails where a process that binds and runs the entry "train" takes more than
// 1.1 or less than 0.9 times its states, arena, scratch, inputs and outputs, or
// where a run allocates. Exits with 77 ("skipped") where a sanitizer adds memory
// of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "runtime/mxc.h"
#include "tests/support/sanitizers.h"

namespace {

long allocations = 0;

}  // namespace

// The library's own allocations come through these.
void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

constexpr int kThreads = 2;
constexpr double kLeast = 0.9, kMost = 1.1;
#if defined(MXC_ADDRESS_SANITIZER) || defined(MXC_THREAD_SANITIZER)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

void Require(mxc_status* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "error: %s\n", mxc_status_message(status));
  std::exit(1);
}

struct Opened {
  explicit Opened(const char* path) {
    Require(mxc_model_open(path, nullptr, &model));
    Require(mxc_model_find_entry(model, "train", 0, &entry));
    Require(mxc_model_entry(model, entry, &summary));
  }
  ~Opened() { mxc_model_close(model); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  uint64_t PlannedBytes() const {
    uint64_t bytes = summary.state_bytes + summary.arena_bytes +
                     kThreads * summary.scratch_bytes;
    mxc_tensor tensor;
    for (size_t i = 0; i < summary.input_count; ++i) {
      Require(mxc_model_input(model, entry, i, &tensor));
      bytes += tensor.bytes;
    }
    for (size_t i = 0; i < summary.output_count; ++i) {
      Require(mxc_model_output(model, entry, i, &tensor));
      bytes += tensor.bytes;
    }
    return bytes;
  }

  mxc_model* model = nullptr;
  size_t entry = 0;
  mxc_entry_summary summary{};
};

// Zeros, of which no page is touched.
void TakeZeros(const Opened& opened, mxc_executor* executor) {
  for (size_t i = 0; i < opened.summary.input_count; ++i) {
    mxc_tensor input;
    void* memory = nullptr;
    size_t size = 0;
    Require(mxc_model_input(opened.model, opened.entry, i, &input));
    Require(mxc_map_input(executor, input.name, &memory, &size));
    Require(mxc_unmap(executor, memory));
  }
}

void Train(const Opened& opened) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.entry = "train";
  options.threads = kThreads;
  mxc_executor* executor = nullptr;
  Require(mxc_bind(opened.model, &options, &executor));
  TakeZeros(opened, executor);
  const long before = allocations;
  for (int step = 0; step < 3; ++step) Require(mxc_run(executor));
  if (allocations != before) {
    std::fprintf(stderr, "%ld allocations after bind\n", allocations - before);
    std::exit(1);
  }
  mxc_executor_close(executor);
}

// The largest size of a process that opens the file and, perhaps, trains.
uint64_t ResidentBytes(const char* path, bool trains) {
  const pid_t child = fork();
  if (child == 0) {
    const Opened opened(path);
    if (trains) Train(opened);
    std::exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
    std::fprintf(stderr, "error: the run failed\n");
    std::exit(1);
  }
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (kSanitized) return 77;
  uint64_t planned = 0;
  {
    const Opened opened(argv[1]);
    planned = opened.PlannedBytes();
  }
  const uint64_t idle = ResidentBytes(argv[1], false);
  const uint64_t real = ResidentBytes(argv[1], true) - idle;
  constexpr double kMiB = 1 << 20;
  const double ratio = static_cast<double>(real) / static_cast<double>(planned);
  std::printf("planned %.1f MiB, resident %.1f MiB: %.3f\n",
              static_cast<double>(planned) / kMiB,
              static_cast<double>(real) / kMiB, ratio);
  return ratio >= kLeast && ratio <= kMost ? 0 : 1;
}
