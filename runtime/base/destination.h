// SPDX-License-Identifier: Apache-2.0
// Where what is written to a path goes.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// Either a name in a folder, for a file that is or becomes a regular one, or a
// stream: a pipe, a terminal, /dev/null, /dev/stdout, /dev/fd/N.
struct Destination {
  Descriptor folder;
  std::string name;
  std::optional<struct stat> present;  // of the file that has the name already

  Descriptor stream;
  bool is_stream() const { return stream.get() >= 0; }
};

// Follows symbolic links, the last one to a file that does not exist yet, too.
// Refuses a folder, a socket, a block device, a file that may not be written,
// and a link of another user in a folder that everybody may write to.
StatusOr<Destination> FindDestination(const std::string& path);

// Makes the folders that are missing around `path`, with the rights that the
// umask leaves: whatever is written makes its own. Paths that end with a slash,
// or in /dev or /proc, are left to who opens them.
Status MakeFoldersAround(const std::string& path);

// Refuses what could not be written to, before the work that is to be written
// there. No pipe is opened, and nothing is made: folders around it may be
// missing yet. Of a server's object (remote_files.h) its name is looked at.
Status RequireDestination(const std::string& path);
// The same for files of any name in a folder; it and the folders around it may
// still have to be made.
Status RequireFolder(const std::string& path);

// Refuses to write over one of the files that the same command reads. Empty
// names are none.
Status RequireNotRead(const std::string& path,
                      const std::vector<std::string>& inputs);
// Refuses to write over a file that by its name holds something else that mxc
// reads or writes, as networks, weights, data and artifacts are, where what is
// written has the ending `own`, as in ".mxa".
Status RequireOwnKind(const std::string& path, std::string_view own);
// All three. An empty path is none.
Status RequireWritable(const std::string& path,
                       const std::vector<std::string>& inputs,
                       std::string_view own);

}  // namespace mxc::runtime
