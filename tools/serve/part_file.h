// SPDX-License-Identifier: Apache-2.0
// Hands the parts of a multipart request to code that reads files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/nameless_file.h"
#include "tools/run/feed.h"
#include "tools/serve/question.h"

namespace mxc::serve {

// The parts of a question as files, which is what inputs are read from.
class PartFiles {
 public:
  // Throws a run::Failure where there can be no such files.
  explicit PartFiles(const std::vector<Part>& parts);

  std::vector<std::string> paths() const;
  std::vector<run::InputFile> inputs() const;
  // What a run::Failure of `action` says of a file, it says of the part.
  void Try(const std::function<void()>& action) const;

 private:
  const std::vector<Part>& parts_;
  std::vector<runtime::NamelessFile> files_;
};

}  // namespace mxc::serve
