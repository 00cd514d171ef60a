// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace mxc::test {

// A folder of this process and this user that goes with the test.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view purpose)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("mxc-{}-{}", purpose, getpid())) {
    std::filesystem::create_directory(path_);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ / name; }

 private:
  const std::filesystem::path path_;
};

inline std::string TemporaryPath(const char* name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

inline std::string TextOf(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void WriteText(const std::filesystem::path& path,
                      std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace mxc::test
