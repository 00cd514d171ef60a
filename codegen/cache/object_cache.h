// SPDX-License-Identifier: Apache-2.0
// ObjectCache: what kernels were compiled to, in a folder that any number of
// compilers use at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace mxc {

// The object in the bytes of a cache's file, if they are whole and of that key.
std::optional<std::string_view> ObjectIn(std::string_view file,
                                         const std::string& key);

// One file for each object, named by its key. A folder that cannot be read or
// written, or that others may write to, keeps nothing, and nothing else fails.
class ObjectCache {
 public:
  static constexpr int64_t kMostBytes = 256 << 20;

  // The folder is made when there is something to keep, for this user alone.
  explicit ObjectCache(std::string folder, int64_t most_bytes = kMostBytes);
  const std::string& folder() const { return folder_; }

  // The object that was kept under the key (a digest in hexadecimal digits);
  // nothing where there is none, or a damaged one. Any thread.
  std::optional<std::string> Find(const std::string& key) const;
  // Any thread.
  void Keep(const std::string& key, const std::string& object);
  // After keeping: deletes what was not found for the longest time until the
  // rest fits. To look at every file takes longer than to compile a small kernel:
  // after the first time that is done when a sixteenth of what fits was kept.
  void Trim();

  // Why something was not kept, if so.
  std::string problem() const;

 private:
  std::string PathOf(const std::string& key) const;
  void Report(const std::string& problem);

  const std::string folder_;
  const int64_t most_bytes_;
  std::atomic<int64_t> kept_bytes_ = 0;  // since the folder was looked through
  std::atomic<bool> was_trimmed_ = false;
  mutable std::mutex mutex_;
  std::string problem_;
};

}  // namespace mxc
