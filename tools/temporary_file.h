// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace mxc {

// The path of a file of this process that is gone when this goes.
class TemporaryFile {
 public:
  // "mxc-verify-123.mxa" for the purpose "verify".
  explicit TemporaryFile(std::string_view purpose)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("mxc-{}-{}.mxa", purpose, getpid())) {}
  ~TemporaryFile() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace mxc
