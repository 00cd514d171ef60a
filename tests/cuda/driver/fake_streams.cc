// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "tests/cuda/driver/fake_cuda.h"

namespace mxc::runtime {

struct CUstream_st {
  std::deque<Work> work;
  std::vector<Work>* captured = nullptr;
};
struct CUevent_st {
  CUstream_st* stream = nullptr;
  int64_t nanoseconds = 0;
};
struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st {
  std::vector<Work> work;
};

namespace {

// The graph that is captured, and the streams that it is captured from.
thread_local CUgraph_st* capturing = nullptr;
thread_local std::vector<CUstream_st*> captured;

void Capture(CUstream_st* stream) {
  stream->captured = &capturing->work;
  captured.push_back(stream);
}

// By device.
CUstream_st& Unnamed() {
  static std::array<CUstream_st, kMostDevices> streams;
  return streams[DeviceNumber()];
}

}  // namespace

CudaResult Drain(CudaStreamHandle stream) {
  if (stream == nullptr) stream = &Unnamed();
  return DeviceMemory().Open([&] {
    while (!stream->work.empty()) {
      const Work work = std::move(stream->work.front());
      stream->work.pop_front();
      const CudaResult result = work();
      if (result != 0) return result;
    }
    return 0;
  });
}

CudaResult Add(CudaStreamHandle stream, Work work) {
  if (stream == nullptr) stream = &Unnamed();
  if (stream->captured != nullptr) {
    stream->captured->push_back(std::move(work));
  } else {
    stream->work.push_back(std::move(work));
  }
  return 0;
}

// What follows is C.

MXC_FAKE(cuStreamCreate, (CudaStreamHandle * stream, unsigned)) {
  if (Fails()) return kUnknown;
  *stream = new CUstream_st;
  return 0;
}
MXC_FAKE(cuStreamDestroy_v2, (CudaStreamHandle stream)) {
  delete stream;
  return 0;
}
MXC_FAKE(cuStreamSynchronize, (CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  const bool captured = stream != nullptr && stream->captured != nullptr;
  return captured ? kUnknown : Drain(stream);
}
MXC_FAKE(cuLaunchHostFunc,
         (CudaStreamHandle stream, void (*function)(void*), void* argument)) {
  if (Fails()) return kUnknown;
  return Add(stream, [=] {
    function(argument);
    return 0;
  });
}
MXC_FAKE(cuEventCreate, (CudaEvent * event, unsigned)) {
  if (Fails()) return kUnknown;
  *event = new CUevent_st;
  return 0;
}
MXC_FAKE(cuEventDestroy_v2, (CudaEvent event)) {
  delete event;
  return 0;
}
MXC_FAKE(cuEventRecord, (CudaEvent event, CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  event->stream = stream;
  if (capturing != nullptr) return 0;
  return Add(stream, [event] {
    event->nanoseconds = Nanoseconds();
    return 0;
  });
}
MXC_FAKE(cuEventElapsedTime,
         (float* milliseconds, CudaEvent first, CudaEvent second)) {
  if (Fails()) return kUnknown;
  *milliseconds =
      static_cast<float>(second->nanoseconds - first->nanoseconds) / 1e6F;
  return 0;
}
// Who waits for another stream has that done first. While a graph is captured,
// what is done beside becomes a part of it here.
MXC_FAKE(cuStreamWaitEvent,
         (CudaStreamHandle stream, CudaEvent event, unsigned)) {
  if (Fails()) return kUnknown;
  CUstream_st* other = event->stream;
  if (other == nullptr || other == stream) return 0;
  if (capturing != nullptr) {
    Capture(stream);
    return 0;
  }
  return Add(stream, [other] { return Drain(other); });
}
MXC_FAKE(cuStreamBeginCapture_v2, (CudaStreamHandle stream, int)) {
  if (Fails()) return kUnknown;
  const CudaResult result = Drain(stream);
  capturing = new CUgraph_st;
  Capture(stream);
  return result;
}
MXC_FAKE(cuStreamEndCapture, (CudaStreamHandle, CudaGraph* graph)) {
  *graph = std::exchange(capturing, nullptr);
  for (CUstream_st* stream : std::exchange(captured, {})) {
    stream->captured = nullptr;
  }
  return Fails() ? kUnknown : 0;
}
MXC_FAKE(cuGraphInstantiateWithFlags,
         (CudaGraphExec * exec, CudaGraph graph, unsigned long long)) {
  if (Fails()) return kUnknown;
  *exec = new CUgraphExec_st{graph->work};
  return 0;
}
MXC_FAKE(cuGraphDestroy, (CudaGraph graph)) {
  delete graph;
  return 0;
}
MXC_FAKE(cuGraphLaunch, (CudaGraphExec exec, CudaStreamHandle stream)) {
  if (Fails()) return kUnknown;
  for (const Work& work : exec->work) Add(stream, work);
  return 0;
}
MXC_FAKE(cuGraphExecDestroy, (CudaGraphExec exec)) {
  delete exec;
  return 0;
}

}  // namespace mxc::runtime
