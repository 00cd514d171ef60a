// SPDX-License-Identifier: Apache-2.0
// Holds the networks that a server answers with, and swaps them at once. Any
// thread may ask.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/serve/options.h"
#include "tools/serve/predictor.h"

namespace mxc::serve {

// The networks that are served, by name. What is being computed keeps its
// network, whatever is loaded meanwhile.
class ModelSet {
 public:
  // Opens all of them. Throws a run::Failure.
  explicit ModelSet(const ServeOptions& options);

  // Opens the files anew: all of them take the place of those before, or, where
  // it throws, none.
  void Reload();

  // Null: there is none of that name.
  std::shared_ptr<Predictor> Find(const std::string& name) const;
  std::shared_ptr<Predictor> first() const;
  std::vector<std::string> names() const;

 private:
  std::vector<std::shared_ptr<Predictor>> Open() const;

  const ServeOptions& options_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Predictor>> models_;
};

}  // namespace mxc::serve
