// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/gloo/plugin.h"

#include <gloo/allreduce.h>
#include <gloo/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/kvstore/gloo/ring.h"

namespace {

using std::chrono::milliseconds;

// One direction of a buffer: what is under way, and what has come.
class Transfers {
 public:
  struct One {
    Transfers* transfers;
    int peer;
  };

  One* Begin(int peer) {
    const std::lock_guard lock(mutex_);
    ++open_;
    return new One{this, peer};
  }
  // Of mxc_mesh; the argument is what Begin returned.
  static void Done(void* argument, const char* error) {
    const std::unique_ptr<One> one(static_cast<One*>(argument));
    one->transfers->End(one->peer, error);
  }
  // The mesh says when a worker is lost; no other limit is needed.
  void Wait(int* peer) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !done_.empty() || !error_.empty(); });
    if (!error_.empty()) throw std::runtime_error(error_);
    if (peer != nullptr) *peer = done_.back();
    done_.pop_back();
  }
  // Nobody reads or writes the buffer any more.
  void AwaitAll() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
  }

 private:
  void End(int peer, const char* error) {
    const std::lock_guard lock(mutex_);
    --open_;
    if (error == nullptr) {
      done_.push_back(peer);
    } else {
      error_ = error;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
  std::vector<int> done_;  // peers
  std::string error_;
};

class MeshBuffer final : public gloo::transport::UnboundBuffer {
 public:
  MeshBuffer(const mxc_mesh& mesh, void* memory, size_t bytes)
      : UnboundBuffer(memory, bytes), mesh_(mesh) {}
  ~MeshBuffer() override {
    sends_.AwaitAll();
    receives_.AwaitAll();
  }

  bool waitRecv(int* rank, milliseconds) override {
    receives_.Wait(rank);
    return true;
  }
  bool waitSend(int* rank, milliseconds) override {
    sends_.Wait(rank);
    return true;
  }
  void abortWaitRecv() override {}
  void abortWaitSend() override {}

  void send(int to, uint64_t slot, size_t offset, size_t bytes) override {
    mesh_.send(mesh_.self, to, slot, At(offset), Size(offset, bytes),
               Transfers::Done, sends_.Begin(to));
  }
  void recv(int from, uint64_t slot, size_t offset, size_t bytes) override {
    mesh_.receive(mesh_.self, from, slot, At(offset), Size(offset, bytes),
                  Transfers::Done, receives_.Begin(from));
  }
  void recv(std::vector<int> from, uint64_t slot, size_t offset,
            size_t bytes) override {
    if (from.size() != 1) throw std::runtime_error("it receives from any");
    recv(from[0], slot, offset, bytes);
  }

 private:
  char* At(size_t offset) const { return static_cast<char*>(ptr) + offset; }
  size_t Size(size_t offset, size_t bytes) const {
    return bytes == kUnspecifiedByteCount ? size - offset : bytes;
  }

  const mxc_mesh& mesh_;
  Transfers sends_, receives_;
};

// Says that there is a way to a worker; buffers know it themselves.
class MeshPair final : public gloo::transport::Pair {
 public:
  const gloo::transport::Address& address() const override { Refuse(); }
  void connect(const std::vector<char>&) override { Refuse(); }
  void close() override {}
  void setSync(bool, bool) override {}
  std::unique_ptr<gloo::transport::Buffer> createSendBuffer(int, void*,
                                                            size_t) override {
    Refuse();
  }
  std::unique_ptr<gloo::transport::Buffer> createRecvBuffer(int, void*,
                                                            size_t) override {
    Refuse();
  }
  void send(gloo::transport::UnboundBuffer*, uint64_t, size_t,
            size_t) override {
    Refuse();
  }
  void recv(gloo::transport::UnboundBuffer*, uint64_t, size_t,
            size_t) override {
    Refuse();
  }

 private:
  [[noreturn]] static void Refuse() {
    throw std::runtime_error("only unbound buffers go over a mesh");
  }
};

class MeshTransport final : public gloo::transport::Context {
 public:
  explicit MeshTransport(const mxc_mesh& mesh)
      : Context(mesh.rank, mesh.workers), mesh_(mesh) {
    pairs_.resize(static_cast<size_t>(mesh.workers));
    for (int rank = 0; rank < mesh.workers; ++rank) createPair(rank);
  }

  std::unique_ptr<gloo::transport::Pair>& createPair(int rank) override {
    auto& pair = pairs_[static_cast<size_t>(rank)];
    pair = std::make_unique<MeshPair>();
    return pair;
  }
  std::unique_ptr<gloo::transport::UnboundBuffer> createUnboundBuffer(
      void* memory, size_t bytes) override {
    return std::make_unique<MeshBuffer>(mesh_, memory, bytes);
  }

 private:
  const mxc_mesh& mesh_;
};

class MeshContext final : public gloo::Context {
 public:
  explicit MeshContext(const mxc_mesh& mesh)
      : Context(mesh.rank, mesh.workers) {
    transportContext_ = std::make_shared<MeshTransport>(mesh);
    constexpr std::chrono::hours kEver(24 * 365);
    setTimeout(kEver);
  }
};

void Sum(void* to, const void* one, const void* other, size_t count) {
  const auto* a = static_cast<const float*>(one);
  const auto* b = static_cast<const float*>(other);
  auto* sum = static_cast<float*>(to);
  for (size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

// Exceptions become sentences.
template <class Call>
int Try(char* error, size_t error_size, Call call) {
  try {
    call();
    return 0;
  } catch (const std::exception& exception) {
    std::snprintf(error, error_size, "%s", exception.what());
  } catch (...) {
    std::snprintf(error, error_size, "gloo fails");
  }
  return 1;
}

}  // namespace

struct mxc_gloo {
  explicit mxc_gloo(const mxc_mesh& that)
      : mesh(that), context(std::make_shared<MeshContext>(mesh)) {}

  const mxc_mesh mesh;
  const std::shared_ptr<gloo::Context> context;
  uint32_t calls = 0;
};

mxc_gloo* mxc_gloo_open(const mxc_mesh* mesh, char* error, size_t error_size) {
  mxc_gloo* gloo = nullptr;
  Try(error, error_size, [&] { gloo = new mxc_gloo(*mesh); });
  return gloo;
}

void mxc_gloo_close(mxc_gloo* gloo) { delete gloo; }

int mxc_gloo_sum(mxc_gloo* gloo, float* values, uint64_t count, char* error,
                 size_t error_size) {
  return Try(error, error_size, [&] {
    gloo::AllreduceOptions options(gloo->context);
    options.setOutput(values, count);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setReduceFunction(Sum);
    options.setTag(gloo->calls++);
    options.setMaxSegmentSize(mxc::kvstore::kRingSegment);
    gloo::allreduce(options);
  });
}
