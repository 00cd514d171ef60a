// SPDX-License-Identifier: Apache-2.0
// A search as one page of HTML: which values were good, how each trial learned,
// and every trial in a table. It is one file without a script.
#pragma once

#include <string>
#include <vector>

#include "runtime/tune/record.h"
#include "tools/tune/search_view.h"

namespace mxc {

std::string MakeSearchPage(const SearchFacts& facts,
                           const std::vector<tune::TrialRecord>& trials,
                           const tune::SearchResult& result);

}  // namespace mxc
