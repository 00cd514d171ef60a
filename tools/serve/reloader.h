// SPDX-License-Identifier: Apache-2.0
// Reloads networks while others are being answered, on one thread of its own.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/serve/model_set.h"

namespace mxc::serve {

// Opens the files of all networks anew, beside what is being answered, by a
// thread of its own: one time after the other, and once for all who ask
// meanwhile.
class Reloader {
 public:
  // By that thread. What is wrong with the files, so that all networks stay as
  // they are; empty: all of them have changed.
  using Told = std::function<void(const std::string& error)>;

  explicit Reloader(ModelSet& models) : models_(models) {}

  // Opens them once more after now, and says so on stderr.
  void Begin(Told told = nullptr);

 private:
  void Run();
  std::string Reload();

  ModelSet& models_;
  std::mutex mutex_;
  bool runs_ = false;
  std::vector<Told> asked_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace mxc::serve
