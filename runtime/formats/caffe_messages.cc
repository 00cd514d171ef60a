// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/caffe_messages.h"

#include <cstring>
#include <optional>
#include <string>

#include "runtime/formats/protobuf_wire.h"

namespace mxc::runtime {
namespace {

using wire::WireType;

// One field after the other; fields of other kinds than a message expects are
// damage.
class CaffeFields {
 public:
  explicit CaffeFields(Bytes message) : at_(message) {}

  // False at the end, and where the bytes are no message.
  bool Next() {
    if (at_.left() == 0 || damaged_) return false;
    if (!at_.TakeTag(tag_)) return Fail();
    uint64_t size = 0;
    switch (tag_.type) {
      case wire::kVarint:
        return at_.Varint(varint_) || Fail();
      case wire::kFixed64:
        return at_.Take(8, bytes_) || Fail();
      case wire::kFixed32:
        return at_.Take(4, bytes_) || Fail();
      case wire::kLengthDelimited:
        return (at_.Varint(size) && at_.Take(size, bytes_)) || Fail();
      default:
        return Fail();
    }
  }

  bool damaged() const { return damaged_; }
  uint64_t number() const { return tag_.number; }
  Bytes bytes() const { return bytes_; }
  bool Is(WireType type) {
    if (tag_.type != type) damaged_ = true;
    return tag_.type == type;
  }
  void Read(int64_t* value) {
    if (Is(wire::kVarint)) *value = static_cast<int64_t>(varint_);
  }
  // One, or many in one field.
  template <class From>
  void ReadNumbers(std::vector<float>* values) {
    constexpr WireType kOne =
        sizeof(From) == 4 ? wire::kFixed32 : wire::kFixed64;
    if (tag_.type != kOne && !Is(wire::kLengthDelimited)) return;
    if (bytes_.size() % sizeof(From) != 0) {
      damaged_ = true;
      return;
    }
    values->reserve(values->size() + bytes_.size() / sizeof(From));
    for (size_t at = 0; at < bytes_.size(); at += sizeof(From)) {
      From value;
      std::memcpy(&value, bytes_.data() + at, sizeof value);
      values->push_back(static_cast<float>(value));
    }
  }
  void ReadExtents(std::vector<int64_t>* values) {
    if (tag_.type == wire::kVarint) {
      values->push_back(static_cast<int64_t>(varint_));
      return;
    }
    if (!Is(wire::kLengthDelimited)) return;
    wire::Cursor packed(bytes_);
    for (uint64_t value = 0; packed.left() > 0 && !damaged_;) {
      damaged_ = !packed.Varint(value);
      if (!damaged_) values->push_back(static_cast<int64_t>(value));
    }
  }

 private:
  bool Fail() {
    damaged_ = true;
    return false;
  }

  wire::Cursor at_;
  wire::Tag tag_;
  Bytes bytes_;
  uint64_t varint_ = 0;
  bool damaged_ = false;
};

// No larger than a picture may be; none is negative.
std::optional<int64_t> ProductOf(const std::vector<int64_t>& extents) {
  constexpr int64_t kMost = int64_t{1} << 31;
  int64_t product = 1;
  for (const int64_t extent : extents) {
    if (extent < 0 || extent > kMost) return std::nullopt;
    product *= extent;
    if (product > kMost) return std::nullopt;
  }
  return product;
}

Status NoWhole(const char* what) {
  return {StatusCode::kCorrupt, std::string("no whole ") + what + " of Caffe"};
}

}  // namespace

StatusOr<CaffeDatum> ParseCaffeDatum(Bytes message) {
  CaffeDatum datum;
  CaffeFields fields(message);
  while (fields.Next()) {
    int64_t flag = 0;
    switch (fields.number()) {
      case 1:
        fields.Read(&datum.channels);
        break;
      case 2:
        fields.Read(&datum.height);
        break;
      case 3:
        fields.Read(&datum.width);
        break;
      case 4:
        if (fields.Is(wire::kLengthDelimited)) datum.data = fields.bytes();
        break;
      case 5:
        fields.Read(&datum.label);
        break;
      case 6:
        fields.ReadNumbers<float>(&datum.floats);
        break;
      case 7:
        fields.Read(&flag);
        datum.encoded = flag != 0;
        break;
      default:
        break;
    }
  }
  if (fields.damaged()) return NoWhole("Datum");
  if (datum.encoded) return datum;
  const auto elements = ProductOf({datum.channels, datum.height, datum.width});
  const size_t given =
      datum.data.empty() ? datum.floats.size() : datum.data.size();
  if (!elements || static_cast<size_t>(*elements) != given) {
    return Fail(StatusCode::kCorrupt,
                "a Datum of %lldx%lldx%lld with %zu values",
                static_cast<long long>(datum.channels),
                static_cast<long long>(datum.height),
                static_cast<long long>(datum.width), given);
  }
  return datum;
}

StatusOr<CaffeBlob> ParseCaffeBlob(Bytes message) {
  CaffeBlob blob;
  std::vector<int64_t> old(4, 0);  // num, channels, height, width
  bool has_old = false;
  CaffeFields fields(message);
  while (fields.Next()) {
    const uint64_t number = fields.number();
    if (number >= 1 && number <= 4) {
      fields.Read(&old[static_cast<size_t>(number - 1)]);
      has_old = true;
    } else if (number == 5) {
      fields.ReadNumbers<float>(&blob.values);
    } else if (number == 7 && fields.Is(wire::kLengthDelimited)) {
      CaffeFields shape(fields.bytes());
      while (shape.Next()) {
        if (shape.number() == 1) shape.ReadExtents(&blob.shape);
      }
      if (shape.damaged()) return NoWhole("BlobProto");
    } else if (number == 8) {
      fields.ReadNumbers<double>(&blob.values);
    }
  }
  if (fields.damaged()) return NoWhole("BlobProto");
  if (has_old) blob.shape = old;
  const auto elements = ProductOf(blob.shape);
  if (!elements || static_cast<size_t>(*elements) != blob.values.size()) {
    return Fail(StatusCode::kCorrupt,
                "a BlobProto with %zu values, which its shape does not say",
                blob.values.size());
  }
  return blob;
}

StatusOr<CaffeSolverState> ParseCaffeSolverState(Bytes message) {
  CaffeSolverState state;
  CaffeFields fields(message);
  while (fields.Next()) {
    const uint64_t number = fields.number();
    if (number == 1) {
      fields.Read(&state.steps);
    } else if (number == 2 && fields.Is(wire::kLengthDelimited)) {
      state.learned_net.assign(
          reinterpret_cast<const char*>(fields.bytes().data()),
          fields.bytes().size());
    } else if (number == 3 && fields.Is(wire::kLengthDelimited)) {
      auto blob = ParseCaffeBlob(fields.bytes());
      if (!blob.ok()) return blob.status();
      state.history.push_back(std::move(*blob));
    }
  }
  if (fields.damaged()) return NoWhole("SolverState");
  return state;
}

}  // namespace mxc::runtime
