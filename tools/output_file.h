// SPDX-License-Identifier: Apache-2.0
// The files that a subcommand writes.
#pragma once

#include <string>
#include <string_view>

#include "ir/support/result.h"
#include "tools/terminal.h"

namespace mxc {

// Whole or not at all: runtime/base/file_writer.h.
Status WriteOutput(const std::string& path, std::string_view bytes);
// The same for what is only looked at: a crash of the system may damage it.
Status WriteDump(const std::string& path, std::string_view bytes);

// "  wrote     net.mxa, 12.3 KiB"; a stream has no size.
void PrintWrote(const Manners& manners, const std::string& path);

}  // namespace mxc
