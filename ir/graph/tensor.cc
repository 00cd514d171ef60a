// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace mxc {
namespace {

struct DTypeRow {
  std::string_view short_name, mxnet_name;
  int64_t bytes;
};

// Indexed by type flag.
constexpr std::array<DTypeRow, 13> kDTypes = {{
    {"f32", "float32", 4},
    {"f64", "float64", 8},
    {"f16", "float16", 2},
    {"u8", "uint8", 1},
    {"i32", "int32", 4},
    {"i8", "int8", 1},
    {"i64", "int64", 8},
    {"bool", "bool", 1},
    {"i16", "int16", 2},
    {"u16", "uint16", 2},
    {"u32", "uint32", 4},
    {"u64", "uint64", 8},
    {"bf16", "bfloat16", 2},
}};

const DTypeRow& Row(DType dtype) {
  MXC_CHECK(dtype != DType::kUnknown);
  return kDTypes[static_cast<size_t>(dtype)];
}

template <class T>
T Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void Write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

constexpr int64_t kLargestProduct = int64_t{1} << 62;

// Truncates as a C++ cast does, but is defined for values out of range.
template <class T>
T Truncate(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= kLow) return std::numeric_limits<T>::min();
  if (value >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

uint16_t FloatToBfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

int64_t SizeOf(DType dtype) { return Row(dtype).bytes; }
std::string_view ShortName(DType dtype) {
  return dtype == DType::kUnknown ? "?" : Row(dtype).short_name;
}
std::string_view MxnetName(DType dtype) { return Row(dtype).mxnet_name; }

std::optional<DType> DTypeFromShortName(std::string_view name) {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].short_name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromMxnetName(std::string_view name) {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].mxnet_name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromFlag(int64_t flag) {
  if (flag < 0 || flag >= static_cast<int64_t>(kDTypes.size())) {
    return std::nullopt;
  }
  return static_cast<DType>(flag);
}

bool IsFloat(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kF16 ||
         dtype == DType::kBF16;
}

bool Shape::known() const {
  return known_rank_ && std::ranges::find(dims_, kUnknownDim) == dims_.end();
}

int64_t Shape::elements() const {
  MXC_CHECK(known(), "{}", ToString(*this));
  return CheckedProduct(dims_).value_or(kLargestProduct);
}

std::string ToString(const Shape& shape) {
  if (!shape.known_rank()) return "(?)";
  std::string out = "(";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ", ";
    out += shape.known(i) ? std::to_string(shape[i]) : "?";
  }
  return out + ")";
}

std::string ToString(const Extents& extents) {
  return fmt::format("({})", fmt::join(extents, ", "));
}

std::optional<int64_t> CheckedProduct(const Extents& extents) {
  if (std::ranges::find(extents, 0) != extents.end()) return 0;
  int64_t product = 1;
  for (const int64_t extent : extents) {
    if (extent < 0 || product > kLargestProduct / extent) return std::nullopt;
    product *= extent;
  }
  return product;
}

int64_t TensorType::bytes() const {
  return std::min(shape.elements(), kLargestProduct / SizeOf(dtype)) *
         SizeOf(dtype);
}

std::string ToString(const TensorType& type) {
  if (!type.shape.known_rank())
    return fmt::format("{}[...]", ShortName(type.dtype));
  std::string out = fmt::format("{}[", ShortName(type.dtype));
  for (int i = 0; i < type.shape.rank(); ++i) {
    if (i > 0) out += ", ";
    out += type.shape.known(i) ? std::to_string(type.shape[i]) : "?";
  }
  return out + "]";
}

std::optional<std::string> Unfit(const TensorType& type) {
  if (!type.shape.known_rank()) return std::nullopt;
  const Extents& dims = type.shape.dims();
  if (std::ssize(dims) > kMaxTensorRank) {
    return fmt::format("a shape of {} axes; at most {} are supported",
                       dims.size(), kMaxTensorRank);
  }
  Extents product = {type.dtype == DType::kUnknown ? 1 : SizeOf(type.dtype)};
  for (const int64_t dim : dims) {
    if (dim == 0) {
      return fmt::format(
          "shape {}, which has no elements; expected extents "
          "from 1",
          ToString(type.shape));
    }
    if (dim != Shape::kUnknownDim) product.push_back(dim);
  }
  const auto bytes = CheckedProduct(product);
  if (bytes && *bytes <= kMaxTensorBytes) return std::nullopt;
  return fmt::format(
      "shape {}, which is more than the 2^47 bytes that a process "
      "can address",
      ToString(type.shape));
}

Tensor::Tensor(TensorType type, std::shared_ptr<const void> owner,
               const std::byte* data)
    : type_(std::move(type)), owner_(std::move(owner)), data_(data) {
  MXC_CHECK(type_.known() && data_ != nullptr);
}

Tensor Tensor::Allocate(TensorType type, std::byte** data) {
  auto bytes = std::make_shared<std::vector<std::byte>>(
      std::max<int64_t>(1, type.bytes()));
  *data = bytes->data();
  return Tensor(std::move(type), bytes, bytes->data());
}

Tensor Tensor::FromFloats(Shape shape, std::span<const float> values) {
  MXC_CHECK(shape.elements() == static_cast<int64_t>(values.size()));
  std::byte* data = nullptr;
  Tensor tensor = Allocate({DType::kF32, std::move(shape)}, &data);
  std::memcpy(data, values.data(), values.size_bytes());
  return tensor;
}

Tensor Tensor::Filled(TensorType type, double value) {
  std::byte* data = nullptr;
  Tensor tensor = Allocate(type, &data);
  const int64_t size = SizeOf(type.dtype);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    StoreElement(data + i * size, type.dtype, value);
  }
  return tensor;
}

struct Tensor::Later {
  std::function<Tensor()> make;
  Tensor value;
};

Tensor Tensor::Deferred(TensorType type, std::function<Tensor()> make) {
  MXC_CHECK(type.known());
  Tensor tensor;
  tensor.type_ = std::move(type);
  tensor.later_ = std::make_shared<Later>();
  tensor.later_->make = std::move(make);
  return tensor;
}

const std::byte* Tensor::bytes() const {
  if (later_ == nullptr) return data_;
  if (later_->value.empty()) {
    later_->value = later_->make();
    MXC_CHECK(later_->value.type() == type_);
  }
  return later_->value.bytes();
}

std::span<const float> Tensor::floats() const {
  MXC_CHECK(type_.dtype == DType::kF32);
  return {reinterpret_cast<const float*>(bytes()),
          static_cast<size_t>(type_.shape.elements())};
}

double Tensor::At(int64_t i) const {
  return LoadElement(bytes() + i * SizeOf(type_.dtype), type_.dtype);
}

double LoadElement(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Read<float>(at);
    case DType::kF64:
      return Read<double>(at);
    case DType::kF16:
      return HalfToFloat(Read<uint16_t>(at));
    case DType::kBF16:
      return std::bit_cast<float>(uint32_t{Read<uint16_t>(at)} << 16);
    case DType::kU8:
      return Read<uint8_t>(at);
    case DType::kI8:
      return Read<int8_t>(at);
    case DType::kU16:
      return Read<uint16_t>(at);
    case DType::kI16:
      return Read<int16_t>(at);
    case DType::kU32:
      return Read<uint32_t>(at);
    case DType::kI32:
      return Read<int32_t>(at);
    case DType::kU64:
      return static_cast<double>(Read<uint64_t>(at));
    case DType::kI64:
      return static_cast<double>(Read<int64_t>(at));
    case DType::kBool:
      return Read<uint8_t>(at) != 0;
    case DType::kUnknown:
      break;
  }
  MXC_CHECK(false, "element type is unknown");
  return 0;
}

void StoreElement(std::byte* at, DType dtype, double value) {
  switch (dtype) {
    case DType::kF32:
      return Write(at, static_cast<float>(value));
    case DType::kF64:
      return Write(at, value);
    case DType::kF16:
      return Write(at, FloatToHalf(static_cast<float>(value)));
    case DType::kBF16:
      return Write(at, FloatToBfloat(static_cast<float>(value)));
    case DType::kU8:
      return Write(at, Truncate<uint8_t>(value));
    case DType::kI8:
      return Write(at, Truncate<int8_t>(value));
    case DType::kU16:
      return Write(at, Truncate<uint16_t>(value));
    case DType::kI16:
      return Write(at, Truncate<int16_t>(value));
    case DType::kU32:
      return Write(at, Truncate<uint32_t>(value));
    case DType::kI32:
      return Write(at, Truncate<int32_t>(value));
    case DType::kU64:
      return Write(at, Truncate<uint64_t>(value));
    case DType::kI64:
      return Write(at, Truncate<int64_t>(value));
    case DType::kBool:
      return Write(at, static_cast<uint8_t>(value != 0));
    case DType::kUnknown:
      break;
  }
  MXC_CHECK(false, "element type is unknown");
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0x1f) {
    return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  }
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude < 6.103515625e-05f) {  // below 2^-14: subnormal
    return sign |
           static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
  }
  const uint32_t rounded = (bits & 0x7fffffff) + 0xfff + (bits >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded >> 13) - (112 << 10));
}

}  // namespace mxc
