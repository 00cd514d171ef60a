// SPDX-License-Identifier: Apache-2.0
// Several files of one source: objects of a server are opened at the same time, as
// each takes some requests before its first byte is there.
#pragma once

#include <cstddef>
#include <future>
#include <string>
#include <vector>

#include "runtime/base/remote_files.h"

namespace mxc::data {

// What `open(0)` … `open(count - 1)` answer. Where `place` is not a server's, or
// there is no thread, each is called when its answer is asked for.
template <class Open>
auto OpenEach(const std::string& place, size_t count, const Open& open)
    -> std::vector<std::future<decltype(open(size_t{0}))>> {
  const auto at = runtime::PlaceOf(place);
  const bool remote = at.ok() && at->remote != nullptr;
  std::vector<std::future<decltype(open(size_t{0}))>> answers;
  for (size_t i = 0; i < count; ++i) {
    const auto launch = remote ? std::launch::async | std::launch::deferred
                               : std::launch::deferred;
    answers.push_back(std::async(launch, open, i));
  }
  return answers;
}

}  // namespace mxc::data
