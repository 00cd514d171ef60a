// SPDX-License-Identifier: Apache-2.0
// usage: given_stream ARTIFACT [DEVICE]
// Runs go into the caller's CUDA stream: behind a copy of the input that is
// still waiting there, and before a copy of the output that is put there during
// the run. On the emulated device nothing is done before somebody waits for its
// stream, so that a run elsewhere would find no input; that is checked, too.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/mxc.hpp"

namespace mxc {
namespace {

using Floats = std::vector<float>;

// What the test itself asks of the driver, as cuda.h declares it.
struct Driver {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);

  template <class Function>
  Function* Find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library, name));
  }
  void* CreateStream() const {
    void* stream = nullptr;
    constexpr unsigned kNonBlocking = 1;
    Check(Find<int(void**, unsigned)>("cuStreamCreate")(&stream, kNonBlocking));
    return stream;
  }
  void CopyIn(const void* to, const Floats& from, void* stream) const {
    Check(Find<int(uintptr_t, const void*, size_t, void*)>(
        "cuMemcpyHtoDAsync_v2")(reinterpret_cast<uintptr_t>(to), from.data(),
                                from.size() * sizeof(float), stream));
  }
  void CopyOut(Floats& to, const void* from, void* stream) const {
    Check(Find<int(void*, uintptr_t, size_t, void*)>("cuMemcpyDtoHAsync_v2")(
        to.data(), reinterpret_cast<uintptr_t>(from), to.size() * sizeof(float),
        stream));
  }
  void Synchronize(void* stream) const {
    Check(Find<int(void*)>("cuStreamSynchronize")(stream));
  }
  static void Check(int result) {
    if (result == 0) return;
    std::fprintf(stderr, "error: the driver says %d\n", result);
    std::exit(1);
  }
};

void Require(mxc_status* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "error: %s\n", mxc_status_message(status));
  std::exit(1);
}

mxc_executor* Bind(const api::Model& model, const char* device, void* stream) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.device = device;
  options.stream = stream;
  mxc_executor* executor = nullptr;
  Require(mxc_bind(model.handle(), &options, &executor));
  return executor;
}

Floats ReadOutput(mxc_executor* executor, size_t elements) {
  Floats values(elements);
  Require(
      mxc_read_output(executor, 0, values.data(), elements * sizeof(float)));
  return values;
}

bool Same(const Floats& a, const Floats& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

int Fail(const char* what) {
  std::fprintf(stderr, "error: %s\n", what);
  return 1;
}

// A device's memory for a tensor, zeros at first.
mxc_memory* Allocate(mxc_executor* executor, size_t elements) {
  mxc_memory* memory = nullptr;
  const Floats zeros(elements);
  Require(mxc_memory_allocate(executor, elements * sizeof(float), &memory));
  Require(mxc_memory_write(memory, zeros.data(), elements * sizeof(float)));
  return memory;
}

int Run(const char* path, const char* device) {
  const api::Model model(path);
  const mxc_tensor input = model.inputs(0).front();
  const mxc_tensor output = model.outputs(0).front();
  Floats values(input.bytes / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 37 % 101) / 101;
  }
  const size_t results = output.bytes / sizeof(float);

  mxc_executor* own = Bind(model, device, nullptr);
  Require(mxc_set_input(own, input.name, values.data(), input.bytes));
  Require(mxc_run(own));
  const Floats expected = ReadOutput(own, results);

  const Driver driver;
  void* stream = driver.CreateStream();
  mxc_executor* given = Bind(model, device, stream);
  mxc_memory* from = Allocate(given, values.size());
  mxc_memory* to = Allocate(given, results);
  // The second run replays what the first one recorded.
  for (int run = 0; run < 2; ++run) {
    const Floats zeros(values.size());
    Require(mxc_memory_write(from, zeros.data(), input.bytes));
    driver.CopyIn(mxc_memory_data(from), values, stream);
    for (mxc_executor* executor : {own, given}) {
      Require(mxc_bind_device_input(executor, input.name, mxc_memory_data(from),
                                    input.bytes));
    }
    if (std::getenv("MXC_EMULATED_DEVICE") != nullptr) {
      Require(mxc_run(own));
      if (Same(ReadOutput(own, results), expected)) {
        return Fail("a run in another stream found the input");
      }
    }
    Require(
        mxc_bind_device_output(given, 0, mxc_memory_data(to), output.bytes));
    Floats found(results);
    Require(mxc_run_async(given));
    driver.CopyOut(found, mxc_memory_data(to), stream);
    Require(mxc_wait(given));
    driver.Synchronize(stream);
    if (!Same(found, expected)) return Fail("a run did not wait its turn");
  }

  mxc_bind_options both = MXC_BIND_OPTIONS;
  both.device = device;
  both.share = given;
  both.stream = stream;
  mxc_executor* refused = nullptr;
  mxc_status* status = mxc_bind(model.handle(), &both, &refused);
  if (mxc_status_code(status) != MXC_INVALID_ARGUMENT) {
    return Fail("two streams were taken");
  }
  mxc_status_release(status);
  mxc_memory_free(from);
  mxc_memory_free(to);
  mxc_executor_close(given);
  mxc_executor_close(own);
  // It is still the caller's.
  driver.Synchronize(stream);
  std::printf("runs keep their place in a stream\n");
  return 0;
}

}  // namespace
}  // namespace mxc

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    return mxc::Run(argv[1], argc > 2 ? argv[2] : nullptr);
  } catch (const mxc::api::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
