// SPDX-License-Identifier: Apache-2.0
// --data-opt help, --val-opt help: which options a source has.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"

namespace mxc {

// An option that names a source, and the settings that are given for it.
struct SourceOption {
  const char* name;  // "--data"
  const std::string& source;
  const std::vector<std::string>& settings;
  bool shuffles = false;  // unless it is told otherwise
};

// Once the command's options are known, "help" among an option's settings
// prints what its source takes and ends the command. A later call takes the
// place of an earlier one. All must outlive the parsing.
inline void OfferSourceHelp(CLI::App& app, std::vector<SourceOption> options) {
  app.parse_complete_callback([options = std::move(options)] {
    for (const auto& [name, source, settings, shuffles] : options) {
      if (std::ranges::find(settings, "help") == settings.end()) continue;
      if (source.empty()) throw CLI::RequiredError(name);
      const std::string help = data::SourceHelp(source, shuffles);
      if (help.empty()) continue;  // opening the source says what is wrong
      std::fputs(help.c_str(), stdout);
      throw CLI::Success();
    }
  });
}

}  // namespace mxc
