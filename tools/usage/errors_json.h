// SPDX-License-Identifier: Apache-2.0
// Errors that are sentences, as --json reports them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mxc {

// {"errors": [{"file", "line", "column", "path", "message", "notes"}, …],
// "count"}; without a place in the file.
nlohmann::ordered_json ErrorsJson(const std::vector<std::string>& messages);

// The file that a sentence is about, which is the first thing that it names:
// "cannot open 'net.json': …", "'net.mxa': …", or "net.mxa: …", "'net.mxa' …"
// where there is such a file. Empty: it is about none.
std::string FileNamedBy(std::string_view message);

}  // namespace mxc
