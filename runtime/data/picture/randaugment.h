// SPDX-License-Identifier: Apache-2.0
// RandAugment (Cubuk et al. 2019): of a table of operations (operations.def) N
// are drawn for every picture, and all are done with magnitude M. The operations
// and what M means are torchvision's: 0 to 30, of which 30 shears by 0.3, turns
// by 30 degrees, moves by 45 % of the side and blends by 0.9.
#pragma once

#include <string>
#include <string_view>

#include "runtime/data/picture/picture.h"
#include "runtime/data/random.h"
#include "runtime/data/settings.h"

namespace mxc::data {

struct RandAugmentOptions {
  int64_t operations = 0, magnitude = 0;
};

// "2,9" as a setting.
bool ParseSetting(std::string_view text, const Range& range,
                  RandAugmentOptions* value);
std::string Expectation(const RandAugmentOptions*, const Range& range);
std::string SettingText(const RandAugmentOptions& value);

// What comes into view has the value `fill`.
void RandAugment(const RandAugmentOptions& options, uint8_t fill, Draws& draws,
                 Picture* picture);

}  // namespace mxc::data
