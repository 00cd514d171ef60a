// SPDX-License-Identifier: Apache-2.0
// Typed operator attributes. An attribute struct has one function,
//
//   struct PoolingAttrs {
//     Extents kernel;
//     PoolType pool_type = PoolType::kMax;
//     void Describe(Fields& f) {
//       f("kernel", kernel).Doc("window, (h, w)");
//       f("pool_type", pool_type).OneOf({"max", "avg", "sum", "lp"});
//     }
//   };
//
// and parsing, printing, comparing and documenting are visits of it. The text
// of a value is MXNet's (dmlc::Parameter; MXNet 1.9.1 3rdparty/dmlc-core).
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ir/graph/tensor.h"

namespace mxc {

// An enumeration seen as the index of its name; the enumerators are 0, 1, ….
// An optional one has no value under the text "None".
struct EnumRef {
  int* value = nullptr;
};

using FieldValue =
    std::variant<bool*, int64_t*, double*, std::string*, DType*, Extents*,
                 std::vector<double>*, std::optional<bool>*,
                 std::optional<int64_t>*, std::optional<double>*,
                 std::optional<DType>*, std::optional<Extents>*,
                 std::vector<std::optional<int64_t>>*, EnumRef>;

class Fields;

// One attribute as Describe states it; visited when the statement ends.
class Field {
 public:
  Field(Fields& fields, std::string_view name, FieldValue value)
      : fields_(fields), name(name), value(std::move(value)) {}
  ~Field();
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  Field& Doc(std::string_view text) { return doc = text, *this; }
  // The names of an enumeration, or the legal texts of a string.
  Field& OneOf(std::vector<std::string_view> names) {
    return one_of = std::move(names), *this;
  }
  Field& Required() { return required = true, *this; }
  // Inclusive bounds of a number, and of every number of a list. Integers whose
  // field states none are bounded by kMaxTensorBytes, up and down.
  Field& Range(double low, double high) { return min = low, max = high, *this; }
  Field& Min(double low) { return min = low, *this; }
  // No effect on the values computed; accepted, kept and printed.
  Field& Hint() { return hint = true, *this; }

 private:
  Fields& fields_;

 public:
  std::string_view name;
  FieldValue value;
  std::string_view doc;
  std::vector<std::string_view> one_of;
  bool required = false;
  bool hint = false;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

class Fields {
 public:
  virtual ~Fields() = default;
  virtual void Visit(Field& field) = 0;

  template <class T>
  Field operator()(std::string_view name, T& value) {
    if constexpr (std::is_enum_v<T> && !std::same_as<T, DType>) {
      static_assert(std::same_as<std::underlying_type_t<T>, int>);
      return Field(*this, name, EnumRef{reinterpret_cast<int*>(&value)});
    } else {
      return Field(*this, name, FieldValue(&value));
    }
  }
};

inline Field::~Field() { fields_.Visit(*this); }

// One attribute as text, in the order of a file or of Describe.
using AttrText = std::pair<std::string, std::string>;

// "name=text" in lines, for attributes that are the value of one; and back: up
// to the first line that is none.
std::string PrintAttrLines(const std::vector<AttrText>& attrs);
std::vector<AttrText> ParseAttrLines(std::string_view lines);

// Why a text is not a legal value; `name` is empty for a missing attribute.
struct AttrError {
  std::string name;
  std::string message;
};

// Parses MXNet's text into the field; nullopt when it is fine.
std::optional<std::string> ParseField(Field& field, std::string_view text);
// MXNet's text of the field's present value: "(3, 3)", "True", "relu", "None".
std::string PrintField(const Field& field);
std::string PrintBool(bool value);

}  // namespace mxc
