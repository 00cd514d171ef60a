// SPDX-License-Identifier: Apache-2.0
// What is fed to an input: a file, a pipe, or standard input.
#pragma once

#include <string>

#include "runtime/base/file.h"
#include "runtime/formats/array.h"

namespace mxc::run {

// "-", or what can be read but once.
bool IsPipe(const std::string& file);

// The bytes of a file. All that comes from a pipe, or where `file` is "-" from
// standard input, is read once for the process; at most 4 GiB of it. A pipe is
// opened by one thread at a time.
runtime::StatusOr<runtime::MappedFile> OpenInput(const std::string& file);

// The array of a .npy; an error names the file.
runtime::StatusOr<runtime::Array> ReadInputArray(const std::string& file);

}  // namespace mxc::run
