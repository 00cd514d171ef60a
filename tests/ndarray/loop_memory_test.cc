// SPDX-License-Identifier: Apache-2.0
// What loops have in memory once they are programs.
#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/ndarray/handles.h"
#include "tests/ndarray/loops.h"

namespace mxc::test {
namespace {

// Resident in MiB: the most since the last call.
double PeakSinceLastCall() {
  double kib = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> kib;
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  return kib / 1024;
}

// Of a weight, by a chain of values of its size.
class ChainLoop {
 public:
  void Turn() const {
    NDArray value = tanh_({weight_.get()});
    for (int link = 0; link < kLinks; ++link) {
      const NDArray next = half_({value.get()});
      value = tanh_({next.get()});
    }
    less_.Into(weight_, {weight_.get(), value.get()});
  }

  static constexpr int64_t kElements = 2 << 20;
  static constexpr double kMiB = kElements * sizeof(float) / 0x1p20;
  static constexpr int kLinks = 6;

 private:
  const Op tanh_{"tanh"}, half_{"_mul_scalar", {{"scalar", "0.5"}}},
      less_{"elemwise_sub"};
  const NDArray weight_ =
      Make({kElements}, std::vector<float>(kElements, 0.25F));
};

}  // namespace

TEST_CASE("what only a loop's program needs is in no memory of arrays") {
  if (IsNaive()) return;
  const ChainLoop chain;
  const double before = PeakSinceLastCall();
  for (int turn = 0; turn < 6; ++turn) chain.Turn();
  Expect(mxc_ndarray_wait_all());
  PeakSinceLastCall();
  for (int turn = 0; turn < 6; ++turn) chain.Turn();
  Expect(mxc_ndarray_wait_all());
  const double more = PeakSinceLastCall() - before;
  INFO("MiB more: " << more);
#if !defined(MXC_THREAD_SANITIZER) && !defined(MXC_ADDRESS_SANITIZER)
  // Each call by itself has an array.
  CHECK(more < 3 * ChainLoop::kMiB);
#else
  static_cast<void>(more);
#endif
}

}  // namespace mxc::test
