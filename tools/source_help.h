// SPDX-License-Identifier: Apache-2.0
// --data-opt help: which options the source has that --data names.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"

namespace mxc {

// Once the command's options are known, "help" among `settings` prints what
// `source` takes and ends the command. Both must outlive the parsing.
inline void OfferSourceHelp(CLI::App& app, const std::string& source,
                            const std::vector<std::string>& settings) {
  app.parse_complete_callback([&source, &settings] {
    if (std::ranges::find(settings, "help") == settings.end()) return;
    const std::string help = data::SourceHelp(source);
    if (help.empty()) return;  // opening the source says what is wrong
    std::fputs(help.c_str(), stdout);
    throw CLI::Success();
  });
}

}  // namespace mxc
