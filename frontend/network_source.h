// SPDX-License-Identifier: Apache-2.0
// A file's content before anybody knows what it is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "frontend/json/json.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"
#include "runtime/base/file.h"

namespace mxc {

// What front ends look at to tell whether a file is theirs, and read it from.
// For one thread.
class NetworkSource {
 public:
  // Maps the file. Fails with the path and the system's reason.
  static Result<std::shared_ptr<const NetworkSource>> Open(
      const std::string& path);
  explicit NetworkSource(std::shared_ptr<const SourceFile> text);

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const;
  // Keeps what bytes() gives alive; null where the text does.
  std::shared_ptr<const void> owner() const;
  // Returns whether a zero byte is among the first 4,096, as no text has it.
  bool binary() const;

  // The content as text, for errors to quote. Made when it is first asked for.
  const std::shared_ptr<const SourceFile>& text() const;
  // The content as JSON, parsed when it is first asked for; or why it is none.
  const Result<std::shared_ptr<const JsonDocument>>& json() const;
  // The root, where the content is a JSON object; else null.
  const JsonValue* object() const;

 private:
  explicit NetworkSource(runtime::MappedFile file, std::string path);

  std::string path_;
  std::optional<runtime::MappedFile> file_;
  mutable std::shared_ptr<const SourceFile> text_;
  mutable std::optional<Result<std::shared_ptr<const JsonDocument>>> json_;
};

}  // namespace mxc
