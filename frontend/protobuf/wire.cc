// SPDX-License-Identifier: Apache-2.0
#include "frontend/protobuf/wire.h"

#include <fmt/format.h>

#include <map>

#include "runtime/formats/protobuf_wire.h"

namespace mxc::protobuf {
namespace {

namespace wire = runtime::wire;
using wire::Cursor;
using wire::Tag;
using wire::WireType;

WireType WireTypeOf(Kind kind) {
  switch (kind) {
    case Kind::kFloat:
      return wire::kFixed32;
    case Kind::kDouble:
      return wire::kFixed64;
    case Kind::kText:
    case Kind::kMessage:
      return wire::kLengthDelimited;
    default:
      return wire::kVarint;
  }
}

class Reader {
 public:
  Reader(std::span<const std::byte> file, const WireLimits& limits)
      : file_(file), limits_(limits) {}

  // False after Fail.
  bool Read(std::span<const std::byte> bytes, const MessageType& type,
            Message& message, int depth) {
    if (depth > limits_.depth) {
      return Fail(bytes, "messages lie in messages more than {} deep",
                  limits_.depth);
    }
    if (++messages_ > limits_.messages) {
      return Fail(bytes, "there are more than {} messages", limits_.messages);
    }
    std::map<int, size_t> counts;  // of repeated messages, for paths
    Cursor at(bytes);
    while (at.left() > 0) {
      const auto rest = bytes.last(at.left());
      Tag tag;
      if (!at.TakeTag(tag)) return Fail(rest, "expected a field");
      const Field* field = type.Find(tag.number);
      if (field == nullptr) {
        if (!Skip(at, tag, depth)) return Fail(rest, "a field is cut short");
        continue;
      }
      size_t& count = counts[field->number];
      if (!ReadField(at, rest, tag, *field, message, depth)) {
        AddToPath(*field, count);
        return false;
      }
      ++count;
    }
    return true;
  }

  std::string Error() const {
    return fmt::format("{}{}{} (byte {})", path_, path_.empty() ? "" : ": ",
                       error_, place_);
  }

 private:
  template <class... Args>
  bool Fail(std::span<const std::byte> at, fmt::format_string<Args...> format,
            Args&&... args) {
    place_ = static_cast<size_t>(at.data() - file_.data());
    error_ = fmt::format(format, std::forward<Args>(args)...);
    return false;
  }

  void AddToPath(const Field& field, size_t index) {
    std::string part = field.name;
    if (field.repeated && field.kind == Kind::kMessage) {
      part += fmt::format("[{}]", index);
    }
    path_ = path_.empty() ? part : part + "." + path_;
  }

  static bool Skip(Cursor& at, const Tag& tag, int depth) {
    uint64_t number = 0;
    uint32_t word = 0;
    std::span<const std::byte> taken;
    switch (tag.type) {
      case wire::kVarint:
        return at.Varint(number);
      case wire::kFixed64:
        return at.Fixed(number);
      case wire::kFixed32:
        return at.Fixed(word);
      case wire::kLengthDelimited:
        return at.Varint(number) && at.Take(number, taken);
      case wire::kStartGroup:
        return SkipGroup(at, tag.number, depth + 1);
      default:
        return false;
    }
  }

  static bool SkipGroup(Cursor& at, uint64_t number, int depth) {
    constexpr int kDeepest = 100;
    if (depth > kDeepest) return false;
    for (Tag tag; at.TakeTag(tag);) {
      if (tag.type == wire::kEndGroup) return tag.number == number;
      if (!Skip(at, tag, depth)) return false;
    }
    return false;
  }

  bool ReadField(Cursor& at, std::span<const std::byte> rest, const Tag& tag,
                 const Field& field, Message& message, int depth) {
    const WireType expected = WireTypeOf(field.kind);
    if (tag.type == wire::kLengthDelimited) {
      uint64_t size = 0;
      std::span<const std::byte> taken;
      if (!at.Varint(size)) return Fail(rest, "a length is cut short");
      if (!at.Take(size, taken)) {
        return Fail(rest, "{} bytes are announced, {} are left", size,
                    at.left());
      }
      if (field.kind == Kind::kMessage) {
        return Read(taken, field.message(), *field.open(&message), depth + 1);
      }
      if (field.kind == Kind::kText) {
        field.set(&message,
                  {.text = Text(reinterpret_cast<const char*>(taken.data()),
                                taken.size())});
        return true;
      }
      if (field.repeated) return ReadPacked(taken, field, message);
    }
    if (tag.type != expected) {
      return Fail(rest, "wire type {}, expected {}", tag.type,
                  static_cast<int>(expected));
    }
    Scalar value;
    if (!ReadScalar(at, field.kind, value)) {
      return Fail(rest, "a number is cut short");
    }
    SetKnown(field, message, value);
    return true;
  }

  // A value that an enumeration lacks is like a field that the message lacks:
  // passed over. Source: protobuf.dev/programming-guides/enum, of proto2.
  static void SetKnown(const Field& field, Message& message,
                       const Scalar& value) {
    if (field.kind == Kind::kEnum && !field.enumeration().Has(value.integer)) {
      return;
    }
    field.set(&message, value);
  }

  bool ReadPacked(std::span<const std::byte> packed, const Field& field,
                  Message& message) {
    const WireType type = WireTypeOf(field.kind);
    const size_t size = type == wire::kFixed32   ? 4
                        : type == wire::kFixed64 ? 8
                                                 : 1;
    if (packed.size() % size != 0) {
      return Fail(packed, "{} bytes are no whole numbers of {}", packed.size(),
                  size);
    }
    if (field.append != nullptr) {
      field.append(&message, packed);
      return true;
    }
    Cursor at(packed);
    while (at.left() > 0) {
      Scalar value;
      if (!ReadScalar(at, field.kind, value)) {
        return Fail(packed, "a number is cut short");
      }
      SetKnown(field, message, value);
    }
    return true;
  }

  static bool ReadScalar(Cursor& at, Kind kind, Scalar& value) {
    uint64_t varint = 0;
    float single = 0;
    switch (kind) {
      case Kind::kFloat:
        if (!at.Fixed(single)) return false;
        value.number = static_cast<double>(single);
        return true;
      case Kind::kDouble:
        return at.Fixed(value.number);
      case Kind::kInt32:
      case Kind::kEnum:
        if (!at.Varint(varint)) return false;
        value.integer = static_cast<int32_t>(varint);
        return true;
      case Kind::kUint32:
        if (!at.Varint(varint)) return false;
        value.integer = static_cast<uint32_t>(varint);
        return true;
      case Kind::kBool:
        if (!at.Varint(varint)) return false;
        value.integer = varint != 0 ? 1 : 0;
        return true;
      default:
        if (!at.Varint(varint)) return false;
        value.integer = static_cast<int64_t>(varint);
        return true;
    }
  }

  const std::span<const std::byte> file_;
  const WireLimits& limits_;
  size_t messages_ = 0;
  std::string path_, error_;
  size_t place_ = 0;
};

}  // namespace

std::optional<std::string> ParseWire(std::span<const std::byte> bytes,
                                     const MessageType& type, Message& message,
                                     const WireLimits& limits) {
  Reader reader(bytes, limits);
  if (reader.Read(bytes, type, message, 1)) return std::nullopt;
  return reader.Error();
}

bool LooksLike(std::span<const std::byte> bytes, const MessageType& type) {
  constexpr int kEnough = 2;
  Cursor at(bytes);
  for (int i = 0; i < kEnough; ++i) {
    Tag tag;
    if (!at.TakeTag(tag)) return false;
    const Field* field = type.Find(tag.number);
    if (field == nullptr || tag.type != WireTypeOf(field->kind)) return false;
    uint64_t number = 0;
    std::span<const std::byte> taken;
    switch (tag.type) {
      case wire::kVarint:
        if (!at.Varint(number)) return false;
        break;
      case wire::kLengthDelimited:
        if (!at.Varint(number)) return false;
        if (!at.Take(number, taken)) return i > 0;
        break;
      default:
        return false;
    }
    if (at.left() == 0) return true;
  }
  return true;
}

}  // namespace mxc::protobuf
