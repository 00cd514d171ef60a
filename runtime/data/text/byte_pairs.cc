// SPDX-License-Identifier: Apache-2.0
// Pairs of bytes: a word begins as its bytes, and of all neighbours that may be
// joined those that merges.txt has first are joined first (Sennrich et al. 2015,
// over bytes Radford et al. 2019). In both files each byte is a character that
// can be seen: itself, or for the others U+0100 and those that follow.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "runtime/base/visible.h"
#include "runtime/data/files/inflate.h"
#include "runtime/data/text/tokenizer.h"
#include "runtime/data/text/unicode.h"

namespace mxc::data {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;
using Json = nlohmann::json;

constexpr uint64_t kMostPairFileBytes = 64 << 20;
constexpr const char* kEndOfText = "<|endoftext|>";

// The character that stands for each byte.
std::array<int32_t, 256> CharactersOfBytes() {
  std::array<int32_t, 256> characters{};
  int32_t next = 0x100;
  for (int32_t byte = 0; byte < 256; ++byte) {
    const bool seen = (byte >= '!' && byte <= '~') ||
                      (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    characters[static_cast<size_t>(byte)] = seen ? byte : next++;
  }
  return characters;
}

// The words that are made of pairs each for themselves: a space and letters,
// numbers, or other signs; the end of a contraction; spaces.
class WordCutter {
 public:
  WordCutter(const Unicode& unicode, std::string_view text)
      : characters_(unicode.Characters(text)), text_(text) {
    kinds_.reserve(characters_.size());
    for (const Character& c : characters_) {
      kinds_.push_back(unicode.KindOf(c.code));
    }
  }

  // Empty at the end.
  std::string_view Next() {
    const size_t begin = at_;
    if (begin == characters_.size()) return {};
    if (const size_t size = Contraction(); size > 0) {
      at_ += size;
    } else {
      const bool led = characters_[at_].code == ' ' && IsWord(at_ + 1);
      if (led) ++at_;
      at_ = kinds_[at_] == CharacterKind::kSpace ? EndOfSpaces() : EndOfRun();
    }
    const char* from = characters_[begin].bytes.data();
    const std::string_view last = characters_[at_ - 1].bytes;
    return {from, static_cast<size_t>(last.data() + last.size() - from)};
  }

 private:
  bool IsWord(size_t i) const {
    return i < kinds_.size() && kinds_[i] != CharacterKind::kSpace;
  }

  size_t Contraction() const {
    const char* from = characters_[at_].bytes.data();
    const std::string_view rest =
        text_.substr(static_cast<size_t>(from - text_.data()));
    for (const std::string_view end :
         {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      if (rest.starts_with(end)) return end.size();
    }
    return 0;
  }

  size_t EndOfRun() const {
    size_t end = at_;
    while (end < kinds_.size() && kinds_[end] == kinds_[at_]) ++end;
    return end;
  }

  // The last space before a word is left to it.
  size_t EndOfSpaces() const {
    const size_t end = EndOfRun();
    return end < kinds_.size() && end > at_ + 1 ? end - 1 : end;
  }

  std::vector<Character> characters_;
  std::vector<CharacterKind> kinds_;
  std::string_view text_;
  size_t at_ = 0;
};

class BytePairs : public Tokenizer {
 public:
  explicit BytePairs(const Unicode& unicode) : unicode_(unicode) {}

  Status ReadVocabulary(std::string_view text);
  Status ReadMerges(std::string_view text);

  std::vector<uint32_t> Encode(std::string_view text) const override {
    std::vector<uint32_t> tokens;
    const std::string_view end = kEndOfText;
    while (!text.empty()) {
      const size_t at =
          end_ ? std::min(text.find(end), text.size()) : text.size();
      WordCutter words(unicode_, text.substr(0, at));
      for (auto word = words.Next(); !word.empty(); word = words.Next()) {
        EncodeWord(word, tokens);
      }
      if (at == text.size()) break;
      tokens.push_back(*end_);
      text.remove_prefix(at + end.size());
    }
    return tokens;
  }

  std::vector<uint32_t> Framed(std::string_view a,
                               const std::optional<std::string>& b,
                               std::vector<uint32_t>* types) const override {
    std::vector<uint32_t> tokens = Encode(a);
    types->assign(tokens.size(), 0);
    if (!b) return tokens;
    const auto more = Encode(*b);
    tokens.insert(tokens.end(), more.begin(), more.end());
    types->resize(tokens.size(), 1);
    return tokens;
  }

  std::string Piece(uint32_t token, bool) const override {
    if (token >= names_.size() || token == end_) return "";
    std::string bytes;
    for (const Character& c : unicode_.Characters(names_[token])) {
      const auto byte = bytes_.find(c.code);
      if (byte == bytes_.end()) return names_[token];
      bytes.push_back(static_cast<char>(byte->second));
    }
    return bytes;
  }

 private:
  struct Merge {
    uint32_t rank, token;
  };
  static uint64_t Pair(uint32_t a, uint32_t b) {
    return static_cast<uint64_t>(a) << 32 | b;
  }

  void EncodeWord(std::string_view word, std::vector<uint32_t>& tokens) const;
  std::optional<uint32_t> Find(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }

  const Unicode& unicode_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::unordered_map<uint64_t, Merge> merges_;
  std::array<uint32_t, 256> of_bytes_{};        // the token of each byte
  std::unordered_map<int32_t, uint8_t> bytes_;  // by character
};

// A number for each token, and a token for each byte.
Status BytePairs::ReadVocabulary(std::string_view text) {
  // What stands deeper than the numbers is dropped as it is read.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= 1;
  };
  const Json json = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return Fail(StatusCode::kCorrupt, "expected an object of numbers by token");
  }
  for (const auto& [name, number] : json.items()) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() >= kMostTokens) {
      return Fail(StatusCode::kCorrupt, "token '%s' has no number from 0 to %u",
                  runtime::Visible(name).c_str(), kMostTokens - 1);
    }
    const auto token = number.get<uint32_t>();
    if (token >= names_.size()) names_.resize(token + 1);
    if (!names_[token].empty()) {
      return Fail(StatusCode::kCorrupt, "tokens '%s' and '%s' have number %u",
                  runtime::Visible(names_[token]).c_str(),
                  runtime::Visible(name).c_str(), token);
    }
    names_[token] = name;
    numbers_.emplace(name, token);
  }
  const auto characters = CharactersOfBytes();
  for (size_t byte = 0; byte < 256; ++byte) {
    std::string name;
    AppendUtf8(characters[byte], &name);
    const auto token = Find(name);
    if (!token) {
      return Fail(StatusCode::kCorrupt, "it has no token '%s' for byte %zu",
                  name.c_str(), byte);
    }
    of_bytes_[byte] = *token;
    bytes_[characters[byte]] = static_cast<uint8_t>(byte);
  }
  end_ = Find(kEndOfText);
  return {};
}

// A line for each pair, in order; the first may say a version.
Status BytePairs::ReadMerges(std::string_view text) {
  uint32_t line_number = 0;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_number;
    if (line.empty() || (line_number == 1 && line.starts_with("#version"))) {
      continue;
    }
    const size_t space = std::min(line.find(' '), line.size());
    const std::string left(line.substr(0, space));
    const std::string right(line.substr(std::min(space + 1, line.size())));
    const auto a = Find(left), b = Find(right), both = Find(left + right);
    if (!a || !b || !both) {
      return Fail(StatusCode::kCorrupt,
                  "line %u is '%s', expected two tokens of the vocabulary that "
                  "make a third",
                  line_number,
                  runtime::Visible(std::string(line.substr(0, 80))).c_str());
    }
    merges_[Pair(*a, *b)] = {line_number, *both};
  }
  return {};
}

// Joins neighbours; a queue holds those that may be joined, the first ones of
// merges.txt and the leftmost ones before others, so that long words take little
// more than linear time.
void BytePairs::EncodeWord(std::string_view word,
                           std::vector<uint32_t>& tokens) const {
  struct Symbol {
    uint32_t token;
    size_t before, after;  // neighbours; kNone at the ends
    bool gone = false;
  };
  constexpr size_t kNone = SIZE_MAX;
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < word.size(); ++i) {
    symbols.push_back({of_bytes_[static_cast<unsigned char>(word[i])],
                       i > 0 ? i - 1 : kNone,
                       i + 1 < word.size() ? i + 1 : kNone});
  }
  using Candidate =
      std::tuple<uint32_t, size_t, uint32_t>;  // rank, left, token
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](size_t left) {
    if (left == kNone || symbols[left].after == kNone) return;
    const auto merge = merges_.find(
        Pair(symbols[left].token, symbols[symbols[left].after].token));
    if (merge == merges_.end()) return;
    queue.emplace(merge->second.rank, left, merge->second.token);
  };
  for (size_t i = 0; i < symbols.size(); ++i) offer(i);
  while (!queue.empty()) {
    const auto [rank, left, token] = queue.top();
    queue.pop();
    Symbol& symbol = symbols[left];
    if (symbol.gone || symbol.after == kNone) continue;
    Symbol& right = symbols[symbol.after];
    const auto merge = merges_.find(Pair(symbol.token, right.token));
    if (merge == merges_.end() || merge->second.rank != rank) continue;
    right.gone = true;
    symbol.token = token;
    symbol.after = right.after;
    if (symbol.after != kNone) symbols[symbol.after].before = left;
    offer(symbol.before);
    offer(left);
  }
  for (const Symbol& symbol : symbols) {
    if (!symbol.gone) tokens.push_back(symbol.token);
  }
}

}  // namespace

StatusOr<std::shared_ptr<const Tokenizer>> OpenBytePairs(
    const std::string& vocabulary, const std::string& merges) {
  MXC_RT_ASSIGN(const auto unicode, Unicode::Get());
  auto tokenizer = std::make_shared<BytePairs>(*unicode);
  const auto read = [&](const std::string& path, auto take) -> Status {
    MXC_RT_ASSIGN(const auto file, ReadFile(path, kMostPairFileBytes));
    const Status taken = take(std::string_view(
        reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()));
    if (taken.ok()) return taken;
    return Status(taken.code(), path + ": " + taken.message());
  };
  MXC_RT_RETURN_IF_ERROR(read(vocabulary, [&](std::string_view text) {
    return tokenizer->ReadVocabulary(text);
  }));
  MXC_RT_RETURN_IF_ERROR(read(merges, [&](std::string_view text) {
    return tokenizer->ReadMerges(text);
  }));
  return std::shared_ptr<const Tokenizer>(std::move(tokenizer));
}

}  // namespace mxc::data
