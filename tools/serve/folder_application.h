// SPDX-License-Identifier: Apache-2.0
// Answers with the files of one folder, a page that `mxc compile --emit web`
// wrote: `--web`.
//
//   GET /        index.html
//   GET /NAME    the file, or the bytes of it that Range asks for
//
// Folders within it, and names that begin with a dot, are not served. Every answer
// isolates the page (COOP, COEP), without which browsers share no memory between
// its threads.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/serve/access_log.h"
#include "tools/serve/message.h"

namespace mxc::serve {

class FolderApplication final : public Application {
 public:
  // `log`: a file, "" for stderr; none where nothing is to be said. Throws a
  // run::Failure where the folder has no index.html.
  FolderApplication(std::string folder, std::optional<std::string> log);

  std::optional<Response> Refuse(const Request& head) override;
  void Handle(std::shared_ptr<const Request> request, Respond respond) override;
  void Finished(const Request& request, int status, uint64_t sent) override;
  int64_t answered() const override { return answered_; }

 private:
  Response Answer(const Request& request) const;

  const std::string folder_;
  std::optional<AccessLog> log_;
  int64_t answered_ = 0;
};

}  // namespace mxc::serve
