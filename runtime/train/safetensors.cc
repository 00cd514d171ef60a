// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/safetensors.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/base/visible.h"
#include "runtime/formats/byte_reader.h"
#include "runtime/formats/safetensors.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::ByteReader;
using runtime::Bytes;
using runtime::Fail;
using runtime::NamedArray;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

using Json = nlohmann::json;

constexpr uint64_t kMostHeader = 100'000'000;  // the format's own limit
constexpr size_t kMostRank = 32;

struct Row {
  std::string name, dtype;
  std::optional<std::vector<uint64_t>> shape;
  std::vector<uint64_t> offsets;
};

// Takes what a header may hold as it is read, and ends at anything else, so
// that no text becomes a tree of any size or depth.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  std::vector<Row> rows;
  std::string problem = "not JSON";

  bool start_object(size_t) override {
    if (array_ != nullptr || depth_ == 2) return Bad("an object too many");
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (--depth_ > 0 && !metadata_) return Complete(rows.back());
    return true;
  }
  bool key(std::string& text) override {
    if (depth_ == 2) {
      field_ = text;
      return true;
    }
    metadata_ = text == "__metadata__";
    if (metadata_) return true;
    if (!names_.insert(text).second) {
      return Bad("'" + runtime::Visible(text) + "' appears twice");
    }
    rows.emplace_back().name = text;
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ != 2 || array_ != nullptr) return Bad("a text out of place");
    if (metadata_) return true;
    if (field_ != "dtype") return Bad("a text out of place");
    rows.back().dtype = text;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 2 || metadata_ || array_ != nullptr) {
      return Bad("a list out of place");
    }
    if (field_ == "shape") array_ = &rows.back().shape.emplace();
    if (field_ == "data_offsets") array_ = &rows.back().offsets;
    if (array_ == nullptr) return Bad("a list out of place");
    array_->clear();
    return true;
  }
  bool end_array() override {
    array_ = nullptr;
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    if (array_ == nullptr || array_->size() == kMostRank) {
      return Bad("a number out of place");
    }
    array_->push_back(value);
    return true;
  }
  bool number_integer(int64_t) override { return Bad("a negative number"); }
  bool number_float(double, const std::string&) override {
    return Bad("a number that is not whole");
  }
  bool null() override { return Bad("null"); }
  bool boolean(bool) override { return Bad("a truth value"); }
  bool binary(Json::binary_t&) override { return Bad("bytes"); }
  bool parse_error(size_t at, const std::string&,
                   const Json::exception&) override {
    return Bad("not JSON at byte " + std::to_string(at));
  }

 private:
  bool Bad(std::string what) {
    problem = std::move(what);
    return false;
  }
  bool Complete(const Row& row) {
    if (!row.dtype.empty() && row.shape && row.offsets.size() == 2) return true;
    return Bad("'" + runtime::Visible(row.name) +
               "' lacks dtype, shape or data_offsets");
  }

  int depth_ = 0;
  bool metadata_ = false;
  std::string field_;
  std::vector<uint64_t>* array_ = nullptr;
  std::set<std::string> names_;
};

StatusOr<std::vector<Row>> ReadHeader(ByteReader& reader) {
  uint64_t length = 0;
  Bytes text;
  if (!reader.Read(&length) || length > kMostHeader ||
      !reader.Take(length, &text)) {
    return Fail(StatusCode::kCorrupt,
                "safetensors: the file ends inside the header");
  }
  HeaderReader header;
  const auto* begin = reinterpret_cast<const char*>(text.data());
  if (!Json::sax_parse(begin, begin + text.size(), &header)) {
    return Fail(StatusCode::kCorrupt, "safetensors: the header is damaged: %s",
                header.problem.c_str());
  }
  return std::move(header.rows);
}

// Floats of 8 bits: of the exponent, of the mantissa. Those of FN have no
// infinity; all ones are NaN.
struct Float8 {
  const char* dtype;
  int exponent_bits, mantissa_bits;
  bool finite;
};
constexpr Float8 kFloats8[] = {{"F8_E4M3", 4, 3, true},
                               {"F8_E4M3FN", 4, 3, true},
                               {"F8_E5M2", 5, 2, false}};

float ValueOf(const Float8& type, uint8_t bits) {
  const int mantissa_ones = (1 << type.mantissa_bits) - 1;
  const int exponent_ones = (1 << type.exponent_bits) - 1;
  const int mantissa = bits & mantissa_ones;
  const int exponent = bits >> type.mantissa_bits & exponent_ones;
  const int least = 2 - (1 << (type.exponent_bits - 1));
  const float sign = bits >> 7 != 0 ? -1.0f : 1.0f;
  if (exponent == exponent_ones) {
    if (!type.finite && mantissa == 0) return sign * INFINITY;
    if (!type.finite || mantissa == mantissa_ones) return NAN;
  }
  const int whole = exponent == 0 ? 0 : 1 << type.mantissa_bits;
  return sign *
         std::ldexp(static_cast<float>(whole + mantissa),
                    least - type.mantissa_bits + std::max(exponent, 1) - 1);
}

// As float32, which holds each of them.
void Float8ToFloats(const Float8& type, Bytes elements, Array& array) {
  float table[256];
  for (int bits = 0; bits < 256; ++bits) {
    table[bits] = ValueOf(type, static_cast<uint8_t>(bits));
  }
  auto* to = reinterpret_cast<float*>(array.storage.get());
  for (const std::byte element : elements) {
    *to++ = table[static_cast<uint8_t>(element)];
  }
}

StatusOr<Array> ReadArray(const Row& row, Bytes elements) {
  const auto* float8 = std::ranges::find(kFloats8, row.dtype, &Float8::dtype);
  const bool is_float8 = float8 != std::end(kFloats8);
  const auto type = is_float8 ? runtime::ElementType::kU8
                              : runtime::TypeOfSafetensors(row.dtype);
  if (!type) {
    return Fail(StatusCode::kUnsupported,
                "its element type is '%s'; real numbers of 8 to 64 bits are "
                "read, of the 8-bit floats F8_E4M3 and F8_E5M2",
                runtime::Visible(row.dtype).c_str());
  }
  std::vector<int64_t> shape;
  for (const uint64_t dim : *row.shape) {
    if (dim > INT64_MAX) return Fail(StatusCode::kCorrupt, "its shape is huge");
    shape.push_back(static_cast<int64_t>(dim));
  }
  const auto size = runtime::ArrayBytes(*type, shape);
  const uint64_t begin = row.offsets[0], end = row.offsets[1];
  if (!size || begin > end || end > elements.size() ||
      end - begin != static_cast<uint64_t>(*size)) {
    return Fail(StatusCode::kCorrupt,
                "its elements are not bytes %llu to %llu of the %zu there",
                static_cast<unsigned long long>(begin),
                static_cast<unsigned long long>(end), elements.size());
  }
  auto array = Array::Allocate(is_float8 ? runtime::ElementType::kF32 : *type,
                               std::move(shape));
  if (!array.ok() || begin == end) return array;
  const Bytes own = elements.subspan(begin, end - begin);
  if (is_float8) {
    Float8ToFloats(*float8, own, *array);
  } else {
    std::ranges::copy(own, array->bytes().begin());
  }
  return array;
}

}  // namespace

StatusOr<std::vector<NamedArray>> ParseSafetensors(Bytes file) {
  ByteReader reader(file);
  auto rows = ReadHeader(reader);
  if (!rows.ok()) return rows.status();
  Bytes elements;
  reader.Take(reader.left(), &elements);
  std::vector<NamedArray> arrays;
  uint64_t left = elements.size();
  for (Row& row : *rows) {
    auto array = ReadArray(row, elements);
    if (!array.ok()) {
      return Status(array.status().code(),
                    "safetensors: '" + runtime::Visible(row.name) +
                        "': " + array.status().message());
    }
    const uint64_t size = row.offsets[1] - row.offsets[0];
    if (size > left) {
      return Fail(StatusCode::kCorrupt, "safetensors: the arrays overlap");
    }
    left -= size;
    arrays.push_back({std::move(row.name), std::move(*array)});
  }
  return arrays;
}

}  // namespace mxc::train
