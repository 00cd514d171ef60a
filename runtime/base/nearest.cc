// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace mxc::runtime {
namespace {

constexpr int kLetter = 4;  // cost of inserting, deleting or changing a letter
constexpr int kCase = 1;    // cost of changing its case
constexpr size_t kLongest = 128;
constexpr size_t kTelling = 3;  // letters that tell which name was begun

int Lower(char c) { return std::tolower(static_cast<unsigned char>(c)); }

int Substitution(char a, char b) {
  if (a == b) return 0;
  return Lower(a) == Lower(b) ? kCase : kLetter;
}

// Levenshtein's distance, two neighbouring letters swapped counting once.
int Distance(std::string_view a, std::string_view b) {
  std::vector<int> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = static_cast<int>(j) * kLetter;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i) * kLetter;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + kLetter, row[j - 1] + kLetter,
                         last[j - 1] + Substitution(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + kLetter);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

bool BeginsWith(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() &&
         std::ranges::equal(text.substr(0, begin.size()), begin, {}, Lower,
                            Lower);
}

// The shortest that begins so.
std::string_view Shortest(std::string_view begin,
                          std::span<const std::string_view> candidates) {
  std::string_view best;
  if (begin.size() < kTelling) return best;
  for (const std::string_view candidate : candidates) {
    if (!BeginsWith(candidate, begin)) continue;
    if (best.empty() || candidate.size() < best.size()) best = candidate;
  }
  return best;
}

}  // namespace

std::string_view Nearest(std::string_view name,
                         std::span<const std::string_view> candidates) {
  if (name.size() > kLongest) return {};
  std::string_view best;
  int best_distance = 0;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const int distance = Distance(name, candidate);
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  const int allowed =
      kLetter * static_cast<int>(std::max(name.size(), best.size())) / 3;
  return best_distance <= allowed ? best : Shortest(name, candidates);
}

std::string NearestNote(std::string_view nearest) {
  return nearest.empty() ? "" : "; nearest: " + std::string(nearest);
}

}  // namespace mxc::runtime
