// SPDX-License-Identifier: Apache-2.0
// A search in words and numbers, for all who show it: a terminal, JSON, a page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tune/record.h"
#include "runtime/tune/search.h"
#include "tools/terminal.h"

namespace mxc {

struct SearchFacts {
  std::string network, objective;
  bool less_is_better = true;
  int64_t trials = 0, epochs = 0;  // of a whole search, of a whole trial
  tune::Space space;
  std::vector<int64_t> rungs;
};

// A trial as a row of a table, the best ones first.
struct TrialRow {
  int64_t trial = 0;
  tune::Texts parameters;
  int64_t epochs = 0, best_epoch = 0;
  double value = 0;   // NaN: it has none
  std::string state;  // "whole", "pruned", "failed: …", "stopped early", "runs"
};
std::vector<TrialRow> RowsOf(const SearchFacts& facts,
                             const std::vector<tune::TrialRecord>& trials,
                             const std::vector<tune::Task>& running);
int64_t EpochsOf(const std::vector<tune::TrialRecord>& trials);

Json JsonOfSearch(const SearchFacts& facts,
                  const std::vector<tune::TrialRecord>& trials,
                  const tune::SearchResult& result);

// A table of the best and the running trials on a terminal, drawn anew in its
// place; nothing where stderr is none.
class LiveTable : public tune::Watcher {
 public:
  LiveTable(SearchFacts facts, bool quiet);
  ~LiveTable() override;
  void Look(const tune::Record& record,
            const std::vector<tune::Task>& running) override;

 private:
  void Erase();

  const SearchFacts facts_;
  const bool draws_;
  const int64_t begun_;
  int64_t drawn_ = 0;  // when, in ns
  int lines_ = 0;      // on the screen
};

// The table as text, at most `most` rows.
std::string TableOf(const SearchFacts& facts, const std::vector<TrialRow>& rows,
                    size_t most);

}  // namespace mxc
