// SPDX-License-Identifier: Apache-2.0
// A KVStore under the names of cxxnet's parameter server (mshadow-ps,
// mshadow::ps::ISharedModel): each device pushes and pulls by itself. What the
// devices push for a key goes on when all of them have.
//
//   SharedModel model(keys, store, 2);
//   model.SetParam("learning_rate", "0.1");
//   model.InitKey(0, weight);                 // in a job: rank 0
//   model.Push(0, device, gradient);          // of each device
//   model.PullReq(0, device, weight, on_arrival);
//   model.PullWait(0, device);
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/kvstore/kvstore.h"

namespace mxc::kvstore {

// Devices may call from threads of their own.
class SharedModel {
 public:
  // Both must outlive the model.
  SharedModel(const KeyTable& keys, KVStore& store, int devices);

  // "learning_rate", which may have cxxnet's short name "eta".
  Status SetParam(const std::string& name, const std::string& value);
  Status InitKey(uint32_t key, std::span<const float> value);
  // Read until the device's next PullWait of the key.
  Status Push(uint32_t key, int device, std::span<const float> gradient,
              int64_t priority = 0);
  // Asks for the value; PullWait of the device writes it and calls `callback`.
  void PullReq(uint32_t key, int device, std::span<float> value,
               std::function<void()> callback = {}, int64_t priority = 0);
  // Until the value is there that the device's last push has changed, for which
  // the others must push, too.
  Status PullWait(uint32_t key, int device);
  // Whether the value is this one, byte for byte.
  Status CheckWeight_(uint32_t key, std::span<const float> value);

 private:
  // What a device has asked for.
  struct Request {
    std::span<float> value;  // empty: nothing
    std::function<void()> callback;
    int64_t priority = 0;
  };
  struct KeyState {
    std::vector<std::span<const float>> pushed;  // by device
    size_t count = 0;                            // of those that are there
    std::vector<Request> requests;               // by device
  };

  Status CheckPlace(uint32_t key, int device) const;

  const KeyTable& keys_;
  KVStore& store_;
  const size_t devices_;
  std::mutex mutex_;  // of all below, and of the store
  std::condition_variable pushed_;
  std::vector<KeyState> states_;
};

}  // namespace mxc::kvstore
