// SPDX-License-Identifier: Apache-2.0
// Messages of Protocol Buffers as C++ structs, each with a table of its fields,
// by which both of their forms are read: the wire format (wire.h) and the text
// format (text.h). Source: protobuf.dev/programming-guides/encoding and
// protobuf.dev/reference/protobuf/textformat-spec.
//
//   struct Datum : Message {
//     std::optional<int32_t> channels;         // optional int32 channels = 1;
//     std::vector<float> float_data;           // repeated float float_data = 6;
//     std::unique_ptr<Datum> next;             // optional Datum next = 8;
//     static const MessageType& Type();
//   };
//   const MessageType& Datum::Type() {
//     static const MessageType type = TypeOf<Datum>("Datum", {
//         FieldOf<&Datum::channels>(1, "channels"),
//         FieldOf<&Datum::float_data>(6, "float_data"),
//         FieldOf<&Datum::next>(8, "next")});
//     return type;
//   }
//
// A member is T or std::optional<T> (the last value counts), std::vector<T>, or
// for numbers of which a file may hold millions Packed<T>; T is a number, an
// enumeration, Text, or a message, which stands in a std::unique_ptr where there
// is at most one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxc::protobuf {

// A string or bytes: a part of the file, or of the Storage that it is read into.
using Text = std::string_view;

// What keeps texts that do not stand in the file as they are.
using Storage = std::deque<std::string>;

// What every message has: where it begins.
struct Message {
  uint32_t line = 0, column = 0;  // of the text form, from 1
};

// Numbers of a fixed size. In the wire format they usually lie in the file one
// after the other, little endian, and stay there.
template <class T>
class Packed {
 public:
  size_t size() const {
    return own_.empty() ? file_.size() / sizeof(T) : own_.size();
  }
  bool empty() const { return size() == 0; }
  T operator[](size_t i) const {
    if (!own_.empty()) return own_[i];
    T value;
    std::memcpy(&value, file_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  // All of them, where they lie; not aligned. Valid as long as this, and the
  // file.
  std::span<const std::byte> bytes() const {
    return own_.empty() ? file_ : std::as_bytes(std::span(own_));
  }

  void Append(std::span<const std::byte> packed) {
    if (empty()) {
      file_ = packed;
      return;
    }
    TakeFile();
    const size_t begin = own_.size();
    own_.resize(begin + packed.size() / sizeof(T));
    std::memcpy(own_.data() + begin, packed.data(), packed.size());
  }
  void push_back(T value) {
    TakeFile();
    own_.push_back(value);
  }

 private:
  void TakeFile() {
    if (!own_.empty() || file_.empty()) return;
    own_.resize(file_.size() / sizeof(T));
    std::memcpy(own_.data(), file_.data(), own_.size() * sizeof(T));
    file_ = {};
  }

  std::span<const std::byte> file_;
  std::vector<T> own_;
};

enum class Kind : uint8_t {
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kBool,
  kEnum,
  kFloat,
  kDouble,
  kText,
  kMessage,
};

// A value of a field that is no message.
struct Scalar {
  int64_t integer = 0;  // of the integers, truth values and enumerations
  double number = 0;    // of kFloat and kDouble
  Text text;
};

// The words of an enumeration.
struct EnumType {
  const char* name;
  std::vector<std::pair<const char*, int>> values;

  bool Has(int64_t value) const;
};
// Specialised for each enumeration of the schema: `static const EnumType&
// Type()`.
template <class E>
struct EnumOf;

struct MessageType;

struct Field {
  int number = 0;
  const char* name = "";
  Kind kind = Kind::kInt32;
  bool repeated = false;
  const EnumType& (*enumeration)() = nullptr;           // kEnum
  const MessageType& (*message)() = nullptr;            // kMessage
  void (*set)(void* message, const Scalar&) = nullptr;  // or adds
  Message* (*open)(void* message) = nullptr;  // kMessage: the one to fill
  // Takes all numbers of a packed field at once, if it can.
  void (*append)(void* message, std::span<const std::byte>) = nullptr;
};

struct MessageType {
  const char* name;
  std::vector<Field> fields;  // ascending numbers

  const Field* Find(uint64_t number) const;
  const Field* Find(std::string_view name) const;
};

namespace internal {

template <class T>
struct Of {
  static constexpr bool kRepeated = false;
  using Element = T;
};
template <class T>
struct Of<std::optional<T>> : Of<T> {};
template <class T>
struct Of<std::unique_ptr<T>> : Of<T> {};
template <class T>
struct Of<std::vector<T>> {
  static constexpr bool kRepeated = true;
  using Element = T;
};
template <class T>
struct Of<Packed<T>> {
  static constexpr bool kRepeated = true;
  using Element = T;
};

template <class M, class T>
T MemberTypeOf(T M::*);
template <class M, class T>
M OwnerTypeOf(T M::*);

template <class T>
constexpr Kind KindOf() {
  if constexpr (std::is_enum_v<T>) return Kind::kEnum;
  if constexpr (std::is_same_v<T, bool>) return Kind::kBool;
  if constexpr (std::is_same_v<T, int32_t>) return Kind::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return Kind::kInt64;
  if constexpr (std::is_same_v<T, uint32_t>) return Kind::kUint32;
  if constexpr (std::is_same_v<T, uint64_t>) return Kind::kUint64;
  if constexpr (std::is_same_v<T, float>) return Kind::kFloat;
  if constexpr (std::is_same_v<T, double>) return Kind::kDouble;
  if constexpr (std::is_same_v<T, Text>) return Kind::kText;
  return Kind::kMessage;
}

template <class T>
T Value(const Scalar& scalar) {
  if constexpr (std::is_same_v<T, Text>) {
    return scalar.text;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(scalar.number);
  } else {
    return static_cast<T>(scalar.integer);
  }
}

template <class T>
T* Open(std::unique_ptr<T>& one) {
  if (one == nullptr) one = std::make_unique<T>();
  return one.get();
}
template <class T>
T* Open(std::vector<T>& many) {
  return &many.emplace_back();
}

}  // namespace internal

template <auto kMember>
Field FieldOf(int number, const char* name) {
  using M = decltype(internal::OwnerTypeOf(kMember));
  using Member = decltype(internal::MemberTypeOf(kMember));
  using T = typename internal::Of<Member>::Element;
  Field field;
  field.number = number;
  field.name = name;
  field.kind = internal::KindOf<T>();
  field.repeated = internal::Of<Member>::kRepeated;
  if constexpr (internal::KindOf<T>() == Kind::kMessage) {
    field.message = &T::Type;
    field.open = [](void* message) -> Message* {
      return internal::Open(static_cast<M*>(message)->*kMember);
    };
  } else {
    if constexpr (std::is_enum_v<T>) field.enumeration = &EnumOf<T>::Type;
    field.set = [](void* message, const Scalar& scalar) {
      auto& member = static_cast<M*>(message)->*kMember;
      if constexpr (internal::Of<Member>::kRepeated) {
        member.push_back(internal::Value<T>(scalar));
      } else {
        member = internal::Value<T>(scalar);
      }
    };
    if constexpr (std::is_same_v<Member, Packed<T>>) {
      field.append = [](void* message, std::span<const std::byte> packed) {
        (static_cast<M*>(message)->*kMember).Append(packed);
      };
    }
  }
  return field;
}

// Sorts the fields by number.
MessageType TypeOf(const char* name, std::vector<Field> fields);

}  // namespace mxc::protobuf
