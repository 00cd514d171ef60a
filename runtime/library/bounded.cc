// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/bounded.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mxc::runtime {
namespace {

constexpr int kTooManyRows = 1, kNoCount = -1000;

// -1 where the text does not say it.
int64_t MostRowsOf(std::string_view attributes) {
  constexpr std::string_view kName = "most=";
  int64_t most = -1;
  if (!attributes.starts_with(kName)) return most;
  const char* end = attributes.data() + attributes.size();
  std::from_chars(attributes.data() + kName.size(), end, most);
  return most;
}

int Bounded(const mxc_call* call) {
  const bool sound = call->input_count == 1 && call->operand_count == 2 &&
                     call->operands[0].dtype == MXC_I32 &&
                     call->operands[0].bytes == sizeof(int32_t) &&
                     call->operands[1].dtype == MXC_I32 &&
                     call->operands[1].bytes == sizeof(int32_t);
  const int64_t most = MostRowsOf(call->attributes);
  if (!sound || most < 0) return kNoCount;
  int32_t count = 0;
  std::memcpy(&count, call->data[0], sizeof count);
  if (count > most) return kTooManyRows;
  std::memcpy(call->data[1], &count, sizeof count);
  return 0;
}

}  // namespace

StatusOr<Function> LoadBounded() { return Function{&Bounded, nullptr}; }

}  // namespace mxc::runtime
