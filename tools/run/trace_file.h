// SPDX-License-Identifier: Apache-2.0
// Files of Chrome's trace events, which Perfetto opens.
#pragma once

#include <string>

namespace mxc::run {

// Writes the events, which commas separate; ends the program's command where
// the file cannot be written.
void WriteTraceFile(const std::string& path, const std::string& events);

}  // namespace mxc::run
