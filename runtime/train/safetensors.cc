// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/safetensors.h"

#include <array>
#include <cstring>
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
  if (text.empty() || *begin != '{' ||
      !Json::sax_parse(begin, begin + text.size(), &header)) {
    return Fail(StatusCode::kCorrupt, "safetensors: the header is damaged: %s",
                header.problem.c_str());
  }
  return std::move(header.rows);
}

StatusOr<Array> ReadArray(const Row& row, Bytes elements) {
  const auto type = runtime::TypeOfSafetensors(row.dtype);
  if (!type) {
    return Fail(StatusCode::kUnsupported, "its element type is '%s'",
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
  auto array = Array::Allocate(*type, std::move(shape));
  if (array.ok() && end > begin) {
    std::memcpy(array->storage.get(), elements.data() + begin, end - begin);
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
    if (array->bytes().size() > left) {
      return Fail(StatusCode::kCorrupt, "safetensors: the arrays overlap");
    }
    left -= array->bytes().size();
    arrays.push_back({std::move(row.name), std::move(*array)});
  }
  return arrays;
}

}  // namespace mxc::train
