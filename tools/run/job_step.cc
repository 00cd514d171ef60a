// SPDX-License-Identifier: Apache-2.0
#include "tools/run/job_step.h"

namespace mxc::run {

runtime::Status JobStep::ExchangeFirstValues() {
  for (uint32_t key = 0; key < keys_.table.size(); ++key) {
    const auto state = step_.State(keys_.states[key]);
    if (rank_ == 0) {
      worker_.Init(key, state);
    } else if (keys_.table[key].trained) {
      worker_.Pull(key, state, keys_.table[key].priority);
    }
  }
  return worker_.Wait();
}

}  // namespace mxc::run
