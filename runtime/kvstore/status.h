// SPDX-License-Identifier: Apache-2.0
// What this room takes of runtime/base for every file.
#pragma once

#include "runtime/base/bytes.h"
#include "runtime/base/copy.h"
#include "runtime/base/status.h"

namespace mxc::kvstore {

using runtime::Bytes;
using runtime::CopyBytes;
using runtime::Fail;
using runtime::Format;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

// Nanoseconds, of points in time and of spans.
using Time = int64_t;
inline constexpr Time kSecond = 1'000'000'000;

}  // namespace mxc::kvstore
