// SPDX-License-Identifier: Apache-2.0
// Declares the makers of all initializers of initializers.def.
#pragma once

#include "runtime/train/initializer.h"

namespace mxc::train {

// Reads its arguments from the reader; errors stay in the reader.
#define MXC_INITIALIZER(function, name) \
  InitializerRef MakeInitializer_##function(ArgumentReader& arguments);
#include "runtime/train/initializers.def"
#undef MXC_INITIALIZER

}  // namespace mxc::train
