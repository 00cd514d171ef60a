// SPDX-License-Identifier: Apache-2.0
// libnccl.so.2 for machines without a GPU: collectives, sums of floats, in the
// order of the devices. One is done when all devices have come to it, on the
// thread of the last one; who waits for long fails. Failures are injected as in the driver.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/cuda/driver/fake_cuda.h"

namespace mxc::runtime {
namespace {

constexpr int kSystemError = 2, kInvalidArgument = 4;
constexpr int kInt8 = 0, kFloat32 = 7;
constexpr std::chrono::seconds kPatience(60);

}  // namespace

// What a device brings, in bytes, and where it has what becomes of it.
struct Part {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  size_t count = 0;
};

// Where the devices of a group meet.
class Meeting {
 public:
  using Parts = std::vector<Part>;
  // Does it, when all are there.
  using Together = void (*)(const Parts& parts);

  explicit Meeting(size_t devices) : parts_(devices), mail_(devices) {
    for (auto& boxes : mail_) boxes.resize(devices);
  }

  bool Do(size_t device, const Part& part, Together together) {
    std::unique_lock lock(mutex_);
    // What a device that has gone had brought may be gone with it.
    if (aborted_) return false;
    const uint64_t round = round_;
    parts_[device] = part;
    // Whoever came first says what is done.
    if (arrived_ == 0) together_ = together;
    if (together_ != together) alike_ = false;
    if (++arrived_ == parts_.size()) {
      for (const Part& other : parts_) alike_ &= other.count == part.count;
      if (alike_) together(parts_);
      all_alike_ = std::exchange(alike_, true);
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return all_alike_;
    }
    const auto done = [&] { return aborted_ || round_ != round; };
    if (!changed_.wait_for(lock, kPatience, done)) aborted_ = true;
    return round_ != round && all_alike_;
  }

  bool Send(size_t device, const std::byte* from, size_t count, size_t to) {
    const std::lock_guard lock(mutex_);
    if (aborted_) return false;
    mail_[to][device].emplace_back(from, from + count);
    changed_.notify_all();
    return true;
  }
  bool Receive(size_t device, std::byte* to, size_t count, size_t from) {
    std::unique_lock lock(mutex_);
    auto& box = mail_[device][from];
    const auto there = [&] { return aborted_ || !box.empty(); };
    if (!changed_.wait_for(lock, kPatience, there)) aborted_ = true;
    if (aborted_) return false;
    const std::vector<std::byte> letter = std::move(box.front());
    box.pop_front();
    std::copy(letter.begin(), letter.end(), to);
    return letter.size() == count;
  }

  void Abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Parts parts_;
  // Of each device, from each other one, in order.
  std::vector<std::vector<std::deque<std::vector<std::byte>>>> mail_;
  Together together_ = nullptr;
  size_t arrived_ = 0;
  uint64_t round_ = 0;
  bool alike_ = true, all_alike_ = true, aborted_ = false;
};

float SumAt(const Meeting::Parts& parts, size_t i) {
  float sum = 0;
  for (const Part& part : parts) {
    sum += reinterpret_cast<const float*>(part.from)[i];
  }
  return sum;
}

// One at a time: outputs may lie over inputs.
void SumAll(const Meeting::Parts& parts) {
  for (size_t i = 0; i < parts[0].count / sizeof(float); ++i) {
    const float sum = SumAt(parts, i);
    for (const Part& part : parts) reinterpret_cast<float*>(part.to)[i] = sum;
  }
}

// `count` is of a part.
void SumParts(const Meeting::Parts& parts) {
  const size_t elements = parts[0].count / sizeof(float);
  std::vector<float> sums(elements * parts.size());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = SumAt(parts, i);
  for (size_t p = 0; p < parts.size(); ++p) {
    std::memcpy(parts[p].to, &sums[p * elements], parts[p].count);
  }
}

void GatherAll(const Meeting::Parts& parts) {
  std::vector<std::byte> all;
  for (const Part& part : parts) {
    all.insert(all.end(), part.from, part.from + part.count);
  }
  for (const Part& part : parts) {
    std::copy(all.begin(), all.end(), part.to);
  }
}

// What follows is C.

struct ncclComm {
  std::shared_ptr<Meeting> meeting;
  size_t device;
};

#define MXC_FAKE_NCCL(symbol, parameters) \
  extern "C" [[gnu::visibility("default")]] int symbol parameters

MXC_FAKE_NCCL(ncclCommInitAll,
              (ncclComm * *comms, int count, const int* devices)) {
  if (Fails()) return kSystemError;
  for (int i = 0; i < count; ++i) {
    if (static_cast<uint64_t>(devices[i]) >= DeviceCount()) {
      return kInvalidArgument;
    }
  }
  const auto meeting = std::make_shared<Meeting>(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    comms[i] = new ncclComm{meeting, static_cast<size_t>(i)};
  }
  return 0;
}
MXC_FAKE_NCCL(ncclCommDestroy, (ncclComm * comm)) {
  delete comm;
  return 0;
}
// What was put into streams may still come to it.
MXC_FAKE_NCCL(ncclCommAbort, (ncclComm * comm)) {
  comm->meeting->Abort();
  return 0;
}
MXC_FAKE_NCCL(ncclGroupStart, ()) { return Fails() ? kSystemError : 0; }
MXC_FAKE_NCCL(ncclGroupEnd, ()) { return Fails() ? kSystemError : 0; }

// Puts it into the stream.
int Meet(ncclComm* comm, CudaStreamHandle stream, const void* from, void* to,
         size_t bytes, Meeting::Together together) {
  if (Fails()) return kSystemError;
  const Part part = {static_cast<const std::byte*>(from),
                     static_cast<std::byte*>(to), bytes};
  return Add(stream, [=, meeting = comm->meeting, device = comm->device] {
    return meeting->Do(device, part, together) ? 0 : kUnknown;
  });
}

MXC_FAKE_NCCL(ncclAllReduce,
              (const void* from, void* to, size_t count, int dtype, int,
               ncclComm* comm, CudaStreamHandle stream)) {
  if (dtype != kFloat32) return kInvalidArgument;
  return Meet(comm, stream, from, to, count * sizeof(float), &SumAll);
}
MXC_FAKE_NCCL(ncclReduceScatter,
              (const void* from, void* to, size_t part, int dtype, int,
               ncclComm* comm, CudaStreamHandle stream)) {
  if (dtype != kFloat32) return kInvalidArgument;
  return Meet(comm, stream, from, to, part * sizeof(float), &SumParts);
}
MXC_FAKE_NCCL(ncclAllGather,
              (const void* from, void* to, size_t count, int dtype,
               ncclComm* comm, CudaStreamHandle stream)) {
  if (dtype != kInt8) return kInvalidArgument;
  return Meet(comm, stream, from, to, count, &GatherAll);
}
// What is sent waits for its receiver, as if both were in one group.
MXC_FAKE_NCCL(ncclSend, (const void* from, size_t count, int dtype, int to,
                         ncclComm* comm, CudaStreamHandle stream)) {
  if (Fails()) return kSystemError;
  if (dtype != kInt8) return kInvalidArgument;
  return Add(stream, [=, meeting = comm->meeting, device = comm->device] {
    const auto* bytes = static_cast<const std::byte*>(from);
    const auto other = static_cast<size_t>(to);
    return meeting->Send(device, bytes, count, other) ? 0 : kUnknown;
  });
}
MXC_FAKE_NCCL(ncclRecv, (void* to, size_t count, int dtype, int from,
                         ncclComm* comm, CudaStreamHandle stream)) {
  if (Fails()) return kSystemError;
  if (dtype != kInt8) return kInvalidArgument;
  return Add(stream, [=, meeting = comm->meeting, device = comm->device] {
    auto* bytes = static_cast<std::byte*>(to);
    const auto other = static_cast<size_t>(from);
    return meeting->Receive(device, bytes, count, other) ? 0 : kUnknown;
  });
}

}  // namespace mxc::runtime
