// SPDX-License-Identifier: Apache-2.0
// The safetensors format: u64 length of a JSON header, the header, the arrays
// back to back. runtime/train/safetensors.h reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/file_writer.h"
#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::runtime {

// The element type that a header calls so ("F32"), unless there is none here.
std::optional<ElementType> TypeOfSafetensors(std::string_view name);

// The other way.
std::string_view SafetensorsName(ElementType type);

// Refuses names that appear twice.
Status WriteSafetensors(const std::string& path,
                        std::span<const NamedArray> arrays);

// A file that was written.
struct SafetensorsFile {
  uint64_t begin = 0;     // where the first array's elements are
  uint64_t checksum = 0;  // of all of it (runtime/base/checksum.h)
};
StatusOr<SafetensorsFile> SaveSafetensors(const std::string& path,
                                          std::span<const NamedArray> arrays,
                                          FileWriter::Sync sync);

}  // namespace mxc::runtime
