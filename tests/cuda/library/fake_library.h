// SPDX-License-Identifier: Apache-2.0
// What the emulated libraries share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "runtime/device/cuda/driver.h"

#define MXC_FAKE(symbol, parameters) \
  extern "C" [[gnu::visibility("default")]] int symbol parameters

namespace mxc::runtime {

extern "C" {
CudaResult cuLaunchHostFunc(CudaStreamHandle stream, void (*function)(void*),
                            void* argument);
CudaResult cuPointerGetAttribute(void* value, int attribute,
                                 CudaAddress pointer);
}

inline uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The call that is to fail, by its number in an environment variable.
class NthCall {
 public:
  explicit NthCall(const char* name) : wanted_(Setting(name, 0)) {}
  bool IsIt() { return ++calls_ == wanted_; }

 private:
  const uint64_t wanted_;
  uint64_t calls_ = 0;
};

inline bool OnDevice(const void* memory, uint64_t alignment) {
  const auto address = reinterpret_cast<CudaAddress>(memory);
  unsigned type = 0;
  return address % alignment == 0 &&
         cuPointerGetAttribute(&type, kCudaMemoryType, address) == 0 &&
         type == kCudaMemoryOfDevice;
}

// Into the file that the environment variable names, if it does.
template <class... Values>
void LogLine(const char* name, const char* format, Values... values) {
  const char* path = std::getenv(name);
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, format, values...);
  std::fclose(file);
}

}  // namespace mxc::runtime
