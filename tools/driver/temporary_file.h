// SPDX-License-Identifier: Apache-2.0
// Makes temporary files with errors as the driver has them.
#pragma once

#include "ir/support/result.h"
#include "runtime/base/nameless_file.h"

namespace mxc {

// Goes with its owner, and with the process whatever ends it.
inline Result<runtime::NamelessFile> MakeTemporaryFile() {
  auto file = runtime::NamelessFile::Create();
  if (!file.ok()) return Error({}, "{}", file.status().message());
  return std::move(*file);
}

}  // namespace mxc
