// SPDX-License-Identifier: Apache-2.0
// The functions of zlib that are called here, found when the first compressed
// file is read: programs start on machines that have no zlib.
#pragma once

#include <zlib.h>

#include "runtime/base/status.h"

namespace mxc::data {

#define MXC_LIBZ_FUNCTIONS(F) \
  F(crc32_z)                  \
  F(inflate)                  \
  F(inflateEnd)               \
  F(inflateInit2_)            \
  F(inflateReset)

struct LibZ {
#define MXC_DECLARE(name) decltype(&::name) name = nullptr;
  MXC_LIBZ_FUNCTIONS(MXC_DECLARE)
#undef MXC_DECLARE

  // The library, loaded once for the process and never unloaded.
  static runtime::StatusOr<const LibZ*> Get();
};

}  // namespace mxc::data
