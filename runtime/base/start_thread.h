// SPDX-License-Identifier: Apache-2.0
// Threads that cannot be started say what they were for.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace mxc::runtime {

// Throws std::system_error: "cannot start a thread that reads samples: Resource
// temporarily unavailable", where `does` is "reads samples".
template <class Function>
std::thread StartThread(const char* does, Function function) {
  try {
    return std::thread(std::move(function));
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(),
                            std::string("cannot start a thread that ") + does);
  }
}

}  // namespace mxc::runtime
