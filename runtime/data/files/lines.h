// SPDX-License-Identifier: Apache-2.0
// Text as lines, found once and read at any time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/files/inflate.h"

namespace mxc::data {

class Lines {
 public:
  // A text file, or one in gzip's form. Blank lines are left out, and the first
  // `skip` lines. What follows a character `comment` is no part of a line.
  static runtime::StatusOr<Lines> Read(const std::string& path, int64_t skip,
                                       char comment = '\n');

  int64_t size() const { return static_cast<int64_t>(lines_.size()); }
  // Without the line's end, and without "\r" there.
  std::string_view line(int64_t i) const;
  // Counted from 1, blank lines too.
  int64_t number(int64_t i) const {
    return lines_[static_cast<size_t>(i)].number;
  }

 private:
  struct Line {
    uint64_t begin, size;
    int64_t number;
  };

  HeldBytes file_;
  std::vector<Line> lines_;
};

// Takes the next number off the front of `text`, with the spaces around it.
bool TakeNumber(std::string_view* text, float* value);
bool TakeIndex(std::string_view* text, int64_t* value);
bool TakeCharacter(std::string_view* text, char c);

}  // namespace mxc::data
