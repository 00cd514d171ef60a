// SPDX-License-Identifier: Apache-2.0
// The files that a subcommand writes.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/result.h"
#include "runtime/base/file_writer.h"
#include "tools/terminal.h"

namespace mxc {

// Whole or not at all: runtime/base/file_writer.h.
Status WriteOutput(const std::string& path, std::string_view bytes);
// The same for what is only looked at: a crash of the system may damage it.
Status WriteDump(const std::string& path, std::string_view bytes);

// Refuses "-", which others take for stdout, and to write over one of the files
// that the command reads, or over one that by its name is something else than
// what ends with `own` (".mxa"). Empty names are none.
Status RequireOutputName(const std::string& output,
                         const std::vector<std::string>& inputs,
                         std::string_view own);

// Files that belong together: none is replaced unless there is room for all.
class OutputSet {
 public:
  // Everything is on the disk then, under no name.
  Status Add(const std::string& path, std::string_view bytes);
  // The same for bytes that lie in pieces.
  Status Add(const std::string& path,
             const std::vector<std::string_view>& pieces);
  Status Commit();
  // Those that have their names.
  const std::vector<std::string>& written() const { return written_; }

 private:
  std::deque<runtime::FileWriter> files_;
  std::vector<std::string> written_;
};

// "  wrote     net.mxa, 12.3 KiB"; a stream has no size.
void PrintWrote(const ReportStyle& style, const std::string& path);

}  // namespace mxc
