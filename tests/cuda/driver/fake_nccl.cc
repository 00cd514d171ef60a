// SPDX-License-Identifier: Apache-2.0
// libnccl.so.2 for machines without a GPU: sums of floats, in the order of the
// devices. A sum is done when all devices have come to it, on the thread of the
// last one; who waits for long fails. Failures are injected as in the driver.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/cuda/driver/fake_cuda.h"

namespace mxc::runtime {
namespace {

constexpr int kSystemError = 2, kInvalidArgument = 4, kFloat32 = 7;
constexpr std::chrono::seconds kPatience(60);

}  // namespace

struct Part {
  const float* from = nullptr;
  float* to = nullptr;
  size_t count = 0;
};

// Where the devices of a group meet.
class Meeting {
 public:
  explicit Meeting(size_t devices) : parts_(devices) {}

  bool Sum(size_t device, const Part& part) {
    std::unique_lock lock(mutex_);
    // What a device that has gone had brought may be gone with it.
    if (aborted_) return false;
    const uint64_t round = round_;
    parts_[device] = part;
    if (++arrived_ == parts_.size()) {
      all_alike_ = AddUp();
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return all_alike_;
    }
    const auto done = [&] { return aborted_ || round_ != round; };
    if (!changed_.wait_for(lock, kPatience, done)) aborted_ = true;
    return round_ != round && all_alike_;
  }
  void Abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }

 private:
  bool AddUp() const {
    for (const Part& part : parts_) {
      if (part.count != parts_[0].count) return false;
    }
    for (size_t i = 0; i < parts_[0].count; ++i) {
      float sum = 0;
      for (const Part& part : parts_) sum += part.from[i];
      for (const Part& part : parts_) part.to[i] = sum;
    }
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Part> parts_;
  size_t arrived_ = 0;
  uint64_t round_ = 0;
  bool all_alike_ = true, aborted_ = false;
};

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
MXC_FAKE_NCCL(ncclAllReduce,
              (const void* from, void* to, size_t count, int dtype, int,
               ncclComm* comm, CudaStreamHandle stream)) {
  if (Fails()) return kSystemError;
  if (dtype != kFloat32) return kInvalidArgument;
  const Part part = {static_cast<const float*>(from), static_cast<float*>(to),
                     count};
  return Add(stream, [=, meeting = comm->meeting, device = comm->device] {
    return meeting->Sum(device, part) ? 0 : kUnknown;
  });
}

}  // namespace mxc::runtime
