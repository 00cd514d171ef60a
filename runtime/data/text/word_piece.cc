// SPDX-License-Identifier: Apache-2.0
// WordPiece: a word is the longest token that it begins with, then the longest
// one that goes on (##ing), and so on (Devlin et al. 2018).
#include <algorithm>
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

constexpr uint64_t kMostVocabularyBytes = 64 << 20;
constexpr size_t kMostCharacters = 100;  // of a word; a longer one is unknown
constexpr std::string_view kGoesOn = "##";
constexpr const char* kSpecial[] = {"[UNK]", "[CLS]", "[SEP]", "[PAD]",
                                    "[MASK]"};

bool IsIdeograph(int32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
         (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

// ASCII's signs, whatever Unicode calls them.
bool IsSign(int32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

class WordPiece : public Tokenizer {
 public:
  WordPiece(const Unicode& unicode, std::vector<std::string> names)
      : unicode_(unicode) {
    names_ = std::move(names);
  }

  // Refuses a vocabulary that lacks what every text needs.
  Status Complete(const std::string& path) {
    for (size_t i = 0; i < names_.size(); ++i) {
      const auto [at, is_new] =
          numbers_.emplace(names_[i], static_cast<uint32_t>(i));
      if (is_new || names_[i].empty()) continue;
      return Fail(StatusCode::kCorrupt, "%s: line %zu repeats '%s' of line %u",
                  path.c_str(), i + 1, runtime::Visible(names_[i]).c_str(),
                  at->second + 1);
    }
    for (const char* name : {"[UNK]", "[CLS]", "[SEP]"}) {
      if (numbers_.contains(name)) continue;
      return Fail(StatusCode::kCorrupt, "%s has no line '%s'", path.c_str(),
                  name);
    }
    unknown_ = numbers_["[UNK]"];
    begin_ = numbers_["[CLS]"];
    end_ = numbers_["[SEP]"];
    lower_ = std::ranges::none_of(names_, [](const std::string& name) {
      return !name.starts_with('[') && std::ranges::any_of(name, [](char c) {
        return c >= 'A' && c <= 'Z';
      });
    });
    return {};
  }

  std::vector<uint32_t> Encode(std::string_view text) const override {
    std::vector<uint32_t> tokens;
    while (!text.empty()) {
      const auto [at, name] = NextSpecial(text);
      EncodePlain(text.substr(0, at), tokens);
      if (name.empty()) break;
      tokens.push_back(numbers_.find(name)->second);
      text.remove_prefix(at + name.size());
    }
    return tokens;
  }

  std::vector<uint32_t> Framed(std::string_view a,
                               const std::optional<std::string>& b,
                               std::vector<uint32_t>* types) const override {
    std::vector<uint32_t> tokens = {begin_};
    const auto add = [&](std::string_view text, uint32_t type) {
      const auto more = Encode(text);
      tokens.insert(tokens.end(), more.begin(), more.end());
      tokens.push_back(*end_);
      types->resize(tokens.size(), type);
    };
    types->clear();
    add(a, 0);
    if (b) add(*b, 1);
    return tokens;
  }

  std::string Piece(uint32_t token, bool first) const override {
    if (token >= names_.size()) return "";
    const std::string& name = names_[token];
    if (name.starts_with(kGoesOn)) return name.substr(kGoesOn.size());
    return first ? name : " " + name;
  }

 private:
  struct Special {
    size_t at;
    std::string_view name;  // empty: none
  };

  // Names that stand in a text as they are.
  Special NextSpecial(std::string_view text) const {
    Special next{text.size(), {}};
    for (size_t at = text.find('['); at != std::string_view::npos;
         at = text.find('[', at + 1)) {
      for (const std::string_view name : kSpecial) {
        if (text.substr(at).starts_with(name) &&
            numbers_.contains(std::string(name))) {
          return {at, name};
        }
      }
    }
    return next;
  }

  void EncodePlain(std::string_view text, std::vector<uint32_t>& tokens) const {
    std::vector<int32_t> codes;
    for (const Character& c : unicode_.Characters(text)) Clean(c.code, codes);
    if (lower_) codes = LowerWithoutAccents(codes);
    std::vector<int32_t> word;
    const auto end = [&] {
      EncodeWord(word, tokens);
      word.clear();
    };
    for (const int32_t code : codes) {
      if (unicode_.KindOf(code) == CharacterKind::kSpace) {
        end();
      } else if (IsSign(code) || unicode_.IsPunctuation(code)) {
        end();
        word.push_back(code);
        end();
      } else {
        word.push_back(code);
      }
    }
    end();
  }

  // Spaces are one, ideographs words of their own, and what cannot be seen goes.
  void Clean(int32_t code, std::vector<int32_t>& codes) const {
    constexpr int32_t kReplacement = 0xfffd;
    if (code <= 0 || code == kReplacement) return;
    const bool space = code == '\t' || code == '\n' || code == '\r';
    if (!space && unicode_.IsControl(code)) return;
    if (IsIdeograph(code)) {
      codes.insert(codes.end(), {' ', code, ' '});
    } else {
      codes.push_back(space ? ' ' : code);
    }
  }

  std::vector<int32_t> LowerWithoutAccents(
      const std::vector<int32_t>& codes) const {
    std::vector<int32_t> lower;
    for (const int32_t code : unicode_.Decomposed(codes)) {
      if (!unicode_.IsMark(code)) lower.push_back(unicode_.LowerCase(code));
    }
    return lower;
  }

  void EncodeWord(const std::vector<int32_t>& word,
                  std::vector<uint32_t>& tokens) const {
    if (word.empty()) return;
    const size_t before = tokens.size();
    size_t begin = 0;
    while (word.size() <= kMostCharacters && begin < word.size()) {
      const auto [token, end] = LongestFrom(word, begin);
      if (end == begin) break;
      tokens.push_back(token);
      begin = end;
    }
    if (begin == word.size()) return;
    tokens.resize(before);
    tokens.push_back(unknown_);
  }

  // The longest token at this place, and where it ends; there if there is none.
  std::pair<uint32_t, size_t> LongestFrom(const std::vector<int32_t>& word,
                                          size_t begin) const {
    std::string text(begin > 0 ? kGoesOn : "");
    std::pair<uint32_t, size_t> longest = {0, begin};
    for (size_t end = begin; end < word.size();) {
      AppendUtf8(word[end++], &text);
      const auto found = numbers_.find(text);
      if (found != numbers_.end()) longest = {found->second, end};
    }
    return longest;
  }

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  const Unicode& unicode_;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  uint32_t unknown_ = 0, begin_ = 0;
  bool lower_ = true;
};

}  // namespace

StatusOr<std::shared_ptr<const Tokenizer>> OpenWordPiece(
    const std::string& path) {
  MXC_RT_ASSIGN(const auto unicode, Unicode::Get());
  MXC_RT_ASSIGN(const auto file, ReadFile(path, kMostVocabularyBytes));
  std::string_view text(reinterpret_cast<const char*>(file.bytes.data()),
                        file.bytes.size());
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, size);
    if (line.ends_with('\r')) line.remove_suffix(1);
    names.emplace_back(line);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (names.size() <= kMostTokens) continue;
    return Fail(StatusCode::kCorrupt, "%s has more than %u lines", path.c_str(),
                kMostTokens);
  }
  auto tokenizer = std::make_shared<WordPiece>(*unicode, std::move(names));
  MXC_RT_RETURN_IF_ERROR(tokenizer->Complete(path));
  return std::shared_ptr<const Tokenizer>(std::move(tokenizer));
}

}  // namespace mxc::data
