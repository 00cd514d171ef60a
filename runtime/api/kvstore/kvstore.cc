// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "runtime/api/handles.h"
#include "runtime/api/kvstore/job_process.h"
#include "runtime/base/clock.h"
#include "runtime/kvstore/collective/introduction.h"
#include "runtime/kvstore/collective/reducing_store.h"
#include "runtime/kvstore/server.h"

namespace mxc::kvstore {
namespace {

// Values that the caller's function updates.
class CallersShelf final : public Shelf {
 public:
  CallersShelf(const KeyTable& keys, mxc_kvstore_updater updater,
               void* user_data)
      : updater_(updater), user_data_(user_data) {
    for (const KeySpec& key : keys) values_.emplace_back(key.elements());
  }

  std::span<std::byte> Value(uint32_t key) override {
    return std::as_writable_bytes(std::span(values_[key]));
  }
  void OnWritten(uint32_t) override {}
  Status Update(uint32_t key, uint64_t first, std::span<const float> gradient,
                double rate) override {
    float* const value = &values_[key][first];
    if (updater_ == nullptr) {
      std::ranges::copy(gradient, value);
    } else {
      updater_(user_data_, key, first, gradient.size(), gradient.data(), value,
               rate);
    }
    return {};
  }
  // Without an updater rows that nobody has pushed are 0.
  Status UpdateRows(uint32_t key, const Rows& rows, double rate) override {
    if (assigns()) std::ranges::fill(values_[key], 0.0f);
    return Shelf::UpdateRows(key, rows, rate);
  }
  bool assigns() const override { return updater_ == nullptr; }

 private:
  const mxc_kvstore_updater updater_;
  void* const user_data_;
  std::vector<std::vector<float>> values_;
};

Status ServeNode(const mxc_kvstore_options& options) {
  const auto keys = KeysOf(options);
  if (!keys.ok()) return keys.status();
  const auto node = MakeNode(options, *keys, Side::kServer);
  if (!node.ok()) return node.status();
  const auto listener = node->transport->Listen(
      options.listen == nullptr ? node->servers[options.rank] : options.listen);
  if (!listener.ok()) return listener.status();
  CallersShelf shelf(node->keys, options.updater, options.user_data);
  Server server(*node->transport, **listener, node->keys, shelf,
                {node->settings, {}, node->tls.get(), ""});
  return Serve(server, *node->transport);
}

}  // namespace
}  // namespace mxc::kvstore

namespace kv = mxc::kvstore;
using mxc::runtime::Guarded;
using mxc::runtime::NeededArray;
using mxc::runtime::Status;

struct mxc_kvstore {
  kv::KeyTable keys;
  std::unique_ptr<kv::Shelf> shelf;  // of a store that updates values itself
  kv::JobProcess node;               // of a job
  std::unique_ptr<kv::Worker> worker;
  std::unique_ptr<kv::KVStore> store;  // last: it uses the rest
};

namespace {

kv::StatusOr<mxc_kvstore_options> Read(const mxc_kvstore_options* given) {
  auto options = mxc::runtime::ReadOptions<mxc_kvstore_options>(
      given, MXC_KVSTORE_OPTIONS);
  if (options.ok() && options->kvstore == nullptr) return kv::Lacks("kvstore");
  return options;
}

// Waits for all workers.
Status OpenReducing(const mxc_kvstore_options& options, mxc_kvstore& opened) {
  opened.shelf = std::make_unique<kv::CallersShelf>(
      opened.keys, options.updater, options.user_data);
  kv::Introduction introduction;
  introduction.rank = options.rank;
  introduction.workers = options.workers;
  introduction.first_key = static_cast<uint32_t>(opened.keys.size());
  introduction.server = opened.node.servers.front();
  introduction.encrypted = opened.node.tls != nullptr;
  auto mesh = kv::MakeMesh(*opened.worker, introduction);
  if (!mesh.ok()) return mesh.status();
  auto all_reduce = kv::AllReduce::Make(std::move(*mesh));
  if (!all_reduce.ok()) return all_reduce.status();
  const float share =
      options.mean != 0 ? 1 / static_cast<float>(options.workers) : 1.0f;
  opened.store =
      kv::MakeReducingStore(opened.keys, *opened.shelf, *opened.worker,
                            std::move(*all_reduce), share);
  return {};
}

Status Open(const mxc_kvstore_options* given, mxc_kvstore& opened) {
  const auto options = Read(given);
  if (!options.ok()) return options.status();
  auto keys = kv::KeysOf(*options);
  if (!keys.ok()) return keys.status();
  opened.keys = std::move(*keys);
  if (kv::IsLocal(options->kvstore)) {
    opened.shelf = std::make_unique<kv::CallersShelf>(
        opened.keys, options->updater, options->user_data);
    opened.store = kv::MakeLocalStore(opened.keys, *opened.shelf);
    return {};
  }
  auto node = kv::MakeNode(*options, opened.keys, kv::Side::kClient);
  if (!node.ok()) return node.status();
  opened.node = std::move(*node);
  kv::ClientOptions client;
  client.rank = options->rank;
  client.incarnation = static_cast<uint64_t>(mxc::runtime::Nanoseconds());
  client.servers = opened.node.servers;
  client.settings = opened.node.settings;
  client.tls = opened.node.tls.get();
  opened.worker = std::make_unique<kv::Worker>(*opened.node.transport,
                                               opened.node.keys, client);
  if (kv::Reduces(*options)) return OpenReducing(*options, opened);
  opened.store = kv::MakeJobStore(opened.keys, *opened.worker);
  return {};
}

// That there is an array for each device, or none where `counts` says 0.
template <class T>
Status CheckArrays(T* const* arrays, uint32_t devices, const char* name,
                   const uint64_t* counts = nullptr) {
  for (uint32_t i = 0; i < devices; ++i) {
    if (arrays != nullptr && arrays[i] != nullptr) continue;
    if (arrays != nullptr && counts != nullptr && counts[i] == 0) continue;
    return mxc::runtime::Fail(mxc::runtime::StatusCode::kInvalidArgument,
                              "'%s' is null%s", name,
                              arrays != nullptr ? " for a device" : "");
  }
  return {};
}

template <class T>
Status CheckRows(const uint64_t* const* rows, const uint64_t* counts,
                 T* const* arrays, uint32_t devices, const char* name) {
  MXC_RT_RETURN_IF_ERROR(CheckArrays(rows, devices, "rows", counts));
  return CheckArrays(arrays, devices, name, counts);
}

// An array for each device.
template <class T>
std::vector<std::span<T>> Arrays(const mxc_kvstore& store, uint32_t key,
                                 T* const* arrays, uint32_t devices) {
  std::vector<std::span<T>> views;
  const uint64_t elements =
      key < store.keys.size() ? store.keys[key].elements() : 0;
  for (uint32_t i = 0; i < devices; ++i)
    views.emplace_back(arrays[i], elements);
  return views;
}

// The same of rows.
template <class SomeRows, class T>
std::vector<SomeRows> RowArrays(const mxc_kvstore& store, uint32_t key,
                                const uint64_t* const* rows,
                                const uint64_t* counts, T* const* arrays,
                                uint32_t devices) {
  std::vector<SomeRows> views;
  const uint64_t width = key < store.keys.size() ? store.keys[key].width : 0;
  for (uint32_t i = 0; i < devices; ++i) {
    views.push_back({{rows[i], counts[i]}, {arrays[i], counts[i] * width}});
  }
  return views;
}

}  // namespace

mxc_status* mxc_kvstore_open(const mxc_kvstore_options* options,
                             mxc_kvstore** store) {
  return Guarded({{store, "store"}}, [&]() -> Status {
    auto opened = std::make_unique<mxc_kvstore>();
    MXC_RT_RETURN_IF_ERROR(Open(options, *opened));
    *store = opened.release();
    return {};
  });
}

void mxc_kvstore_close(mxc_kvstore* store) { delete store; }

mxc_status* mxc_kvstore_init(mxc_kvstore* store, uint32_t key,
                             const float* value) {
  return Guarded({{store, "store"}, {value, "value"}}, [&] {
    return store->store->Init(key, Arrays(*store, key, &value, 1)[0]);
  });
}

mxc_status* mxc_kvstore_push(mxc_kvstore* store, uint32_t key,
                             const float* const* gradients, uint32_t devices,
                             int64_t priority) {
  return Guarded({{store, "store"}}, [&]() -> Status {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(gradients, devices, "gradients"));
    return store->store->Push(key, Arrays(*store, key, gradients, devices),
                              priority);
  });
}

mxc_status* mxc_kvstore_pull(mxc_kvstore* store, uint32_t key,
                             float* const* values, uint32_t devices,
                             int64_t priority) {
  return Guarded({{store, "store"}}, [&]() -> Status {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(values, devices, "values"));
    return store->store->Pull(key, Arrays(*store, key, values, devices),
                              priority);
  });
}

mxc_status* mxc_kvstore_push_rows(mxc_kvstore* store, uint32_t key,
                                  const uint64_t* const* rows,
                                  const uint64_t* counts,
                                  const float* const* gradients,
                                  uint32_t devices, int64_t priority) {
  return Guarded(
      {{store, "store"}, NeededArray(counts, devices, "counts")},
      [&]() -> Status {
        MXC_RT_RETURN_IF_ERROR(
            CheckRows(rows, counts, gradients, devices, "gradients"));
        return store->store->PushRows(
            key,
            RowArrays<kv::Rows>(*store, key, rows, counts, gradients, devices),
            priority);
      });
}

mxc_status* mxc_kvstore_pull_rows(mxc_kvstore* store, uint32_t key,
                                  const uint64_t* const* rows,
                                  const uint64_t* counts, float* const* values,
                                  uint32_t devices, int64_t priority) {
  return Guarded({{store, "store"}, NeededArray(counts, devices, "counts")},
                 [&]() -> Status {
                   MXC_RT_RETURN_IF_ERROR(
                       CheckRows(rows, counts, values, devices, "values"));
                   return store->store->PullRows(
                       key,
                       RowArrays<kv::WantedRows>(*store, key, rows, counts,
                                                 values, devices),
                       priority);
                 });
}

mxc_status* mxc_kvstore_wait(mxc_kvstore* store, uint32_t key) {
  return Guarded({{store, "store"}}, [&] { return store->store->Wait(key); });
}

void mxc_kvstore_set_learning_rate(mxc_kvstore* store, double rate) {
  if (store != nullptr) store->store->SetLearningRate(rate);
}

mxc_status* mxc_kvstore_finish(mxc_kvstore* store) {
  return Guarded({{store, "store"}}, [&] {
    return store->worker == nullptr ? Status() : store->worker->Finish();
  });
}

mxc_status* mxc_kvstore_serve(const mxc_kvstore_options* options) {
  return Guarded([&]() -> Status {
    const auto read = Read(options);
    return read.ok() ? kv::ServeNode(*read) : read.status();
  });
}
