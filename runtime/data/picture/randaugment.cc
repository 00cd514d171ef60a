// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/randaugment.h"

#include <array>

#include "runtime/data/picture/operations/operation.h"

namespace mxc::data {
namespace {

constexpr int64_t kMostMagnitude = 30, kMostOperations = 100;

enum class Sign { kOne, kEither };

struct Operation {
  Sign sign;
  void (*apply)(double strength, uint8_t fill, Picture* picture);
};
constexpr auto kOperations = std::to_array<Operation>({
#define MXC_PICTURE_OPERATION(name, sign) {Sign::sign, Apply##name},
#include "runtime/data/picture/operations.def"
#undef MXC_PICTURE_OPERATION
});

}  // namespace

bool ParseSetting(std::string_view text, const Range&,
                  RandAugmentOptions* value) {
  Extents numbers;
  if (!ParseSetting(text, Range{0, kMostOperations}, &numbers) ||
      numbers.size() != 2 || numbers[1] > kMostMagnitude) {
    return false;
  }
  *value = {numbers[0], numbers[1]};
  return true;
}

std::string Expectation(const RandAugmentOptions*, const Range&) {
  return "N,M, like 2,9: operations for a picture, and their magnitude from 0 "
         "to " +
         std::to_string(kMostMagnitude);
}

std::string SettingText(const RandAugmentOptions& value) {
  return SettingText(Extents{value.operations, value.magnitude});
}

void RandAugment(const RandAugmentOptions& options, uint8_t fill, Draws& draws,
                 Picture* picture) {
  for (int64_t i = 0; i < options.operations; ++i) {
    const Operation& operation = kOperations[draws.Below(kOperations.size())];
    double strength = static_cast<double>(options.magnitude) / kMostMagnitude;
    if (operation.sign == Sign::kEither && draws.Flip()) strength = -strength;
    operation.apply(strength, fill, picture);
  }
}

}  // namespace mxc::data
