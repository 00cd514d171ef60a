// SPDX-License-Identifier: Apache-2.0
// Reads gzip files, and whole .tar.gz (ustar, with GNU and pax long names),
// into memory.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace mxc {

// The bytes of a gzip file, or of a plain one as they are; nullopt when it is
// missing or damaged.
std::optional<std::string> ReadGzip(const std::string& path);

// The regular files by path; nullopt when the archive is missing or damaged.
std::optional<std::map<std::string, std::string>> ReadArchive(
    const std::string& path);

}  // namespace mxc
