// SPDX-License-Identifier: Apache-2.0
// What layers and their attributes are called here that Keras and PyTorch call
// otherwise.
#pragma once

#include <string_view>

namespace mxc {

// Of "Dense", "Conv2d", …: "FullyConnected", "Convolution"; "" for other names.
std::string_view FamiliarOperator(std::string_view name);
// Of "units", "out_channels", …; "" for other names. A name may stand for
// several: ask again with `i` + 1 until "" is returned.
std::string_view FamiliarAttribute(std::string_view name, int i);

}  // namespace mxc
