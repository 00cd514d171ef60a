// SPDX-License-Identifier: Apache-2.0
#include "tools/diagram/block_names.h"

#include <algorithm>
#include <cctype>

namespace mxc {
namespace {

bool IsNumber(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
}

// "mixed_1_conv": "mixed_1", "conv"; a number belongs to the word before it.
std::vector<std::string> WordsOf(std::string_view name) {
  constexpr std::string_view kSeparators = "_-/.";
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin < name.size()) {
    const size_t end =
        std::min(name.find_first_of(kSeparators, begin), name.size());
    const std::string_view word = name.substr(begin, end - begin);
    if (IsNumber(word) && !words.empty()) {
      words.back() += name[begin - 1];
      words.back() += word;
    } else if (!word.empty()) {
      words.emplace_back(word);
    }
    begin = end + 1;
  }
  return words;
}

}  // namespace

NameSet CommonParts(const Diagram& diagram) {
  std::map<std::string_view, size_t> count;
  for (const DiagramBox& box : diagram.boxes) {
    for (const std::string_view part : PartsOf(box.name)) ++count[part];
  }
  NameSet common;
  for (const auto& [part, times] : count) {
    if (times > 4 && times * 6 > diagram.boxes.size()) common.emplace(part);
  }
  return common;
}

std::vector<std::string> WordsOfStep(std::string_view name,
                                     const NameSet& common) {
  std::map<std::vector<std::string>, int> votes;
  std::vector<std::vector<std::string>> candidates;
  for (const std::string_view part : PartsOf(name)) {
    if (common.contains(part)) continue;
    std::vector<std::string> words = WordsOf(UserNode(part));
    if (words.size() < 2) continue;
    words.pop_back();
    ++votes[words];
    candidates.push_back(std::move(words));
  }
  std::vector<std::string> best;
  int most = 0;
  for (const auto& words : candidates) {
    if (votes[words] > most) most = votes[words], best = words;
  }
  return best;
}

std::string ShortName(const Diagram& diagram, const DiagramBox& box,
                      const NameSet& common) {
  std::set<std::string> around;
  for (int g = box.group; g >= 0; g = diagram.groups[g].parent) {
    around.insert(diagram.groups[g].title);
  }
  std::string out;
  for (std::string_view part : PartsOf(box.name)) {
    if (common.contains(part)) continue;
    for (bool again = true; again;) {
      again = false;
      for (const std::string& title : around) {
        if (part.size() > title.size() + 1 && part.starts_with(title)) {
          part.remove_prefix(title.size() + 1);
          again = true;
        }
      }
    }
    out += (out.empty() ? "" : " + ") + std::string(part);
  }
  return out.empty() ? box.name : out;
}

std::string_view UserNode(std::string_view part) {
  for (const std::string_view suffix :
       {"/layout", "/packed", "/parts", "/phases", "/next"}) {
    if (part.ends_with(suffix)) part.remove_suffix(suffix.size());
  }
  return part;
}

std::vector<std::string_view> PartsOf(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('+', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace mxc
