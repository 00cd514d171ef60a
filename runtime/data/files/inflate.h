// SPDX-License-Identifier: Apache-2.0
// What gzip and zip compress. Nothing is allocated that the compressed bytes do
// not prove.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/data/files/arriving.h"

namespace mxc::data {

// Bytes that keep alive what holds them.
struct HeldBytes {
  std::shared_ptr<const void> owner;
  runtime::Bytes bytes;
  Arriving arriving = {};
};

enum class Deflated { kGzip, kRaw };  // with gzip's header, or bare as in zip

// `most`: inflating to more is refused.
runtime::StatusOr<std::vector<std::byte>> Inflate(runtime::Bytes compressed,
                                                  Deflated form, uint64_t most);

// The file, mapped and watched (watched_file.h); its content where it begins as gzip files do.
runtime::StatusOr<HeldBytes> ReadFile(const std::string& path, uint64_t most);
// The same, before all of an object's bytes are there: the first 4 KiB are, and
// all that is compressed.
runtime::StatusOr<HeldBytes> ReadFileInParts(const std::string& path,
                                             uint64_t most);

}  // namespace mxc::data
