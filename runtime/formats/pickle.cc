// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/pickle.h"

#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "runtime/formats/byte_reader.h"

namespace mxc::runtime {
namespace {

using Kind = PickleValue::Kind;

// Latin-1 out of UTF-8; nothing where a character is beyond.
std::optional<std::string> ToLatin1(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      bytes += text[i];
    } else if ((c == 0xc2 || c == 0xc3) && i + 1 < text.size()) {
      bytes += static_cast<char>((c & 3) << 6 | (text[++i] & 0x3f));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

void AppendUtf8(std::string& text, uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    text += static_cast<char>(0xe0 | (c >> 12 & 0xf));
    text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (c & 0x3f));
  }
}

// Python 2's "raw-unicode-escape": Latin-1 with \uXXXX.
std::string FromRawUnicode(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    uint32_t c = static_cast<unsigned char>(line[i]);
    if (line.substr(i).starts_with("\\u") && i + 6 <= line.size()) {
      const char* digits = line.data() + i + 2;
      if (std::from_chars(digits, digits + 4, c, 16).ptr == digits + 4) i += 5;
    }
    AppendUtf8(text, c);
  }
  return text;
}

// A quoted string of protocol 0, as Python's repr writes it.
std::optional<std::string> FromRepr(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() ||
      (line.front() != '\'' && line.front() != '"')) {
    return std::nullopt;
  }
  line = line.substr(1, line.size() - 2);
  constexpr std::string_view kEscapes = "\\'\"nrt";
  constexpr std::string_view kMeanings = "\\'\"\n\r\t";
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
      continue;
    }
    if (++i == line.size()) return std::nullopt;
    if (const size_t k = kEscapes.find(line[i]); k != kEscapes.npos) {
      text += kMeanings[k];
      continue;
    }
    unsigned value = 0;
    const char* digits = line.data() + i + 1;
    if (line[i] != 'x' || i + 3 > line.size() ||
        std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) {
      return std::nullopt;
    }
    text += static_cast<char>(value);
    i += 2;
  }
  return text;
}

class Machine {
 public:
  explicit Machine(std::span<const std::byte> bytes)
      : reader_(bytes), text_left_(4 * bytes.size()) {}

  StatusOr<Pickle> Run();

 private:
  enum class Step { kContinue, kStop, kBad };

  Step Execute(uint8_t instruction);
  // Families of instructions; nothing: it is none of the family.
  std::optional<bool> ReadScalar(uint8_t instruction);
  std::optional<bool> ReadText(uint8_t instruction);
  std::optional<bool> Collect(uint8_t instruction);
  std::optional<bool> Remember(uint8_t instruction);
  std::optional<bool> Construct(uint8_t instruction);

  bool Push(Kind kind, int64_t integer = 0, std::string text = {},
            std::vector<uint32_t> items = {}) {
    if (pickle_.values.size() == std::numeric_limits<uint32_t>::max()) {
      return false;
    }
    stack_.push_back(static_cast<uint32_t>(pickle_.values.size()));
    pickle_.values.push_back(
        {kind, integer, std::move(text), std::move(items)});
    return true;
  }
  bool PushInteger(int64_t value) { return Push(Kind::kInteger, value); }
  bool PushText(Kind kind, std::string text) {
    if (text.size() > text_left_) return false;
    text_left_ -= text.size();
    return Push(kind, 0, std::move(text));
  }

  // How much of the stack lies above the latest mark.
  size_t Available() const {
    return stack_.size() - (marks_.empty() ? 0 : marks_.back());
  }
  bool Pop(uint32_t* value) {
    if (Available() == 0) return false;
    *value = stack_.back();
    stack_.pop_back();
    return true;
  }
  bool PopMany(size_t count, std::vector<uint32_t>* values) {
    if (Available() < count) return false;
    values->assign(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return true;
  }
  bool PopToMark(std::vector<uint32_t>* values) {
    if (marks_.empty()) return false;
    PopMany(Available(), values);
    marks_.pop_back();
    return true;
  }

  bool PushSequence(bool popped, std::vector<uint32_t> items) {
    return popped && Push(Kind::kSequence, 0, {}, std::move(items));
  }
  // Adds to the list, set or dict on top of the stack.
  bool AddTo(Kind kind, const std::vector<uint32_t>& items) {
    if (Available() == 0) return false;
    PickleValue& target = pickle_.values[stack_.back()];
    if (kind == Kind::kDict && items.size() % 2 != 0) return false;
    if (target.kind == Kind::kObject) return true;  // a class of its own
    if (target.kind != kind) return false;
    target.items.insert(target.items.end(), items.begin(), items.end());
    return true;
  }

  template <class Size>
  bool ReadCounted(Kind kind) {
    Size size;
    std::span<const std::byte> taken;
    if (!reader_.Read(&size) || !reader_.Take(size, &taken)) return false;
    return PushText(
        kind, {reinterpret_cast<const char*>(taken.data()), taken.size()});
  }
  template <class T>
  bool ReadInteger() {
    T value;
    return reader_.Read(&value) && PushInteger(static_cast<int64_t>(value));
  }
  template <class Size>
  bool ReadLong();
  bool ReadLine(std::string_view* line);
  bool Call(bool keyword_arguments);
  bool Build();

  ByteReader reader_;
  // A few bytes can ask for a copy of a long text again and again: no pickle
  // that holds data makes texts of four times its size.
  size_t text_left_;
  Pickle pickle_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::map<int64_t, uint32_t> memory_;
};

// A little-endian integer in two's complement, kept if 64 bits hold it.
template <class Size>
bool Machine::ReadLong() {
  Size size;
  std::span<const std::byte> taken;
  if (!reader_.Read(&size) || !reader_.Take(size, &taken)) return false;
  uint64_t value = 0;
  if (taken.size() > sizeof value) return Push(Kind::kFloat);
  for (size_t i = taken.size(); i-- > 0;) {
    value = value << 8 | static_cast<uint64_t>(taken[i]);
  }
  const size_t unused = 64 - 8 * taken.size();
  if (unused == 64) return PushInteger(0);
  return PushInteger(static_cast<int64_t>(value << unused) >> unused);
}

bool Machine::ReadLine(std::string_view* line) {
  ByteReader end = reader_;
  std::span<const std::byte> taken;
  for (std::byte c; end.Read(&c);) {
    if (c != std::byte{'\n'}) continue;
    reader_.Take(end.offset() - reader_.offset(), &taken);
    *line = {reinterpret_cast<const char*>(taken.data()), taken.size() - 1};
    return true;
  }
  return false;
}

std::optional<bool> Machine::ReadScalar(uint8_t instruction) {
  std::string_view line;
  double number;
  switch (instruction) {
    case 'N':
      return Push(Kind::kNone);
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      return PushInteger(instruction == 0x88);
    case 'J':
      return ReadInteger<int32_t>();
    case 'K':
      return ReadInteger<uint8_t>();
    case 'M':
      return ReadInteger<uint16_t>();
    case 0x8a:
      return ReadLong<uint8_t>();
    case 0x8b:
      return ReadLong<uint32_t>();
    case 'G':
      return reader_.Read(&number) && Push(Kind::kFloat);
    case 'F':
      return ReadLine(&line) && Push(Kind::kFloat);
    case 'I':
    case 'L': {
      int64_t value = 0;
      if (!ReadLine(&line)) return false;
      if (line.ends_with('L')) line.remove_suffix(1);
      const auto [end, error] =
          std::from_chars(line.data(), line.data() + line.size(), value);
      if (end != line.data() + line.size()) return false;
      return error == std::errc() ? PushInteger(value) : Push(Kind::kFloat);
    }
    default:
      return std::nullopt;
  }
}

std::optional<bool> Machine::ReadText(uint8_t instruction) {
  std::string_view line, name;
  switch (instruction) {
    case 'X':
      return ReadCounted<uint32_t>(Kind::kString);
    case 0x8c:
      return ReadCounted<uint8_t>(Kind::kString);
    case 0x8d:
      return ReadCounted<uint64_t>(Kind::kString);
    case 'V':
      return ReadLine(&line) && PushText(Kind::kString, FromRawUnicode(line));
    case 'B':
      return ReadCounted<uint32_t>(Kind::kBytes);
    case 'C':
      return ReadCounted<uint8_t>(Kind::kBytes);
    case 0x8e:
    case 0x96:
      return ReadCounted<uint64_t>(Kind::kBytes);
    // Python 2's strings: names as often as bytes, equal as ASCII.
    case 'T':
      return ReadCounted<uint32_t>(Kind::kString);
    case 'U':
      return ReadCounted<uint8_t>(Kind::kString);
    case 'S': {
      if (!ReadLine(&line)) return false;
      std::optional<std::string> text = FromRepr(line);
      return text && PushText(Kind::kString, *std::move(text));
    }
    case 'c':  // GLOBAL
      return ReadLine(&line) && ReadLine(&name) &&
             PushText(Kind::kClass,
                      std::string(line) + "." + std::string(name));
    default:
      return std::nullopt;
  }
}

std::optional<bool> Machine::Collect(uint8_t instruction) {
  std::vector<uint32_t> items;
  uint32_t last = 0;
  switch (instruction) {
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case ')':
    case ']':
    case 0x8f:  // EMPTY_SET
      return PushSequence(true, {});
    case '}':
      return Push(Kind::kDict);
    case 't':
    case 'l':
    case 0x91: {  // FROZENSET
      const bool popped = PopToMark(&items);
      return PushSequence(popped, std::move(items));
    }
    case 'd':
      return PopToMark(&items) && items.size() % 2 == 0 &&
             Push(Kind::kDict, 0, {}, std::move(items));
    case 0x85:  // TUPLE1 … TUPLE3
    case 0x86:
    case 0x87: {
      const bool popped = PopMany(instruction - 0x84u, &items);
      return PushSequence(popped, std::move(items));
    }
    case 'a':
      return Pop(&last) && AddTo(Kind::kSequence, {last});
    case 'e':
    case 0x90:  // ADDITEMS
      return PopToMark(&items) && AddTo(Kind::kSequence, items);
    case 's':
      return PopMany(2, &items) && AddTo(Kind::kDict, items);
    case 'u':
      return PopToMark(&items) && AddTo(Kind::kDict, items);
    case '0':
      return Pop(&last);
    case '1':
      return PopToMark(&items);
    default:
      return std::nullopt;
  }
}

std::optional<bool> Machine::Remember(uint8_t instruction) {
  int64_t key = 0;
  const auto read_key = [&]() {
    uint8_t narrow;
    uint32_t wide;
    std::string_view line;
    switch (instruction) {
      case 'q':
      case 'h':
        if (!reader_.Read(&narrow)) return false;
        key = narrow;
        return true;
      case 'r':
      case 'j':
        if (!reader_.Read(&wide)) return false;
        key = wide;
        return true;
      default:
        return ReadLine(&line) &&
               std::from_chars(line.data(), line.data() + line.size(), key)
                       .ptr == line.data() + line.size();
    }
  };
  switch (instruction) {
    case 0x94:  // MEMOIZE
      if (Available() == 0) return false;
      memory_[static_cast<int64_t>(memory_.size())] = stack_.back();
      return true;
    case 'p':
    case 'q':
    case 'r':
      if (!read_key() || Available() == 0) return false;
      memory_[key] = stack_.back();
      return true;
    case 'g':
    case 'h':
    case 'j': {
      if (!read_key()) return false;
      const auto found = memory_.find(key);
      if (found == memory_.end()) return false;
      stack_.push_back(found->second);
      return true;
    }
    case '2':  // DUP
      if (Available() == 0) return false;
      stack_.push_back(stack_.back());
      return true;
    default:
      return std::nullopt;
  }
}

// Calls the function or class below the arguments, which is to say: notes that
// there would be an object of that name.
bool Machine::Call(bool keyword_arguments) {
  uint32_t keywords = 0, arguments = 0, callee = 0;
  if (keyword_arguments && !Pop(&keywords)) return false;
  if (!Pop(&arguments) || !Pop(&callee)) return false;
  const std::string* name = &pickle_.values[callee].text;
  const std::vector<uint32_t>& given = pickle_.values[arguments].items;
  if (pickle_.values[callee].kind != Kind::kClass) return false;
  if (*name == "builtins.bytearray" || *name == "__builtin__.bytearray" ||
      *name == "builtins.bytes" || *name == "__builtin__.bytes" ||
      *name == "_codecs.encode") {
    if (given.empty()) return PushText(Kind::kBytes, "");
    const PickleValue& value = pickle_.values[given[0]];
    if (value.text.size() > text_left_) return false;
    if (value.kind == Kind::kBytes) return PushText(Kind::kBytes, value.text);
    if (value.kind != Kind::kString) return false;
    std::optional<std::string> bytes = ToLatin1(value.text);
    // Python 2's bytearray(str) has bytes that are no UTF-8.
    if (!bytes && given.size() > 1) return false;
    return PushText(Kind::kBytes, bytes ? *bytes : std::string(value.text));
  }
  // Python 2's way to make an object: the class is an argument.
  if (*name == "copy_reg._reconstructor" && !given.empty() &&
      pickle_.values[given[0]].kind == Kind::kClass) {
    name = &pickle_.values[given[0]].text;
  }
  return name->size() <= text_left_ && PushText(Kind::kObject, *name);
}

bool Machine::Build() {
  uint32_t state = 0;
  if (!Pop(&state) || Available() == 0) return false;
  PickleValue& object = pickle_.values[stack_.back()];
  if (object.kind == Kind::kObject) object.items = {state};
  return true;
}

std::optional<bool> Machine::Construct(uint8_t instruction) {
  uint32_t module = 0, name = 0;
  switch (instruction) {
    case 0x93:  // STACK_GLOBAL
      return Pop(&name) && Pop(&module) &&
             pickle_.values[name].kind == Kind::kString &&
             pickle_.values[module].kind == Kind::kString &&
             PushText(Kind::kClass, pickle_.values[module].text + "." +
                                        pickle_.values[name].text);
    case 'R':
    case 0x81:  // NEWOBJ
      return Call(/*keyword_arguments=*/false);
    case 0x92:  // NEWOBJ_EX
      return Call(/*keyword_arguments=*/true);
    case 'b':
      return Build();
    default:
      return std::nullopt;
  }
}

Machine::Step Machine::Execute(uint8_t instruction) {
  std::span<const std::byte> ignored;
  if (instruction == '.') return Step::kStop;
  if (instruction == 0x80 || instruction == 0x95) {  // PROTO, FRAME
    const size_t size = instruction == 0x80 ? 1 : 8;
    return reader_.Take(size, &ignored) ? Step::kContinue : Step::kBad;
  }
  for (const auto family :
       {&Machine::ReadScalar, &Machine::ReadText, &Machine::Collect,
        &Machine::Remember, &Machine::Construct}) {
    if (const std::optional<bool> done = (this->*family)(instruction)) {
      return *done ? Step::kContinue : Step::kBad;
    }
  }
  return Step::kBad;
}

StatusOr<Pickle> Machine::Run() {
  uint8_t instruction = 0;
  size_t start = 0;
  Step step = Step::kContinue;
  while (step == Step::kContinue) {
    start = reader_.offset();
    step = reader_.Read(&instruction) ? Execute(instruction) : Step::kBad;
  }
  if (step == Step::kStop && Available() == 1 && marks_.empty()) {
    pickle_.root = stack_.back();
    return std::move(pickle_);
  }
  return Fail(StatusCode::kCorrupt,
              "the pickle is damaged, or does more than hold data, at byte "
              "%zu",
              start);
}

}  // namespace

StatusOr<Pickle> ReadPickle(std::span<const std::byte> bytes) {
  return Machine(bytes).Run();
}

}  // namespace mxc::runtime
