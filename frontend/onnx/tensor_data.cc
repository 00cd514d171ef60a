// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/tensor_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "runtime/base/file.h"

namespace mxc::onnx {
namespace {

namespace fs = std::filesystem;

// How a type is stored, and what we hold it as.
struct TypeRow {
  int32_t data_type;
  const char* name;
  DType dtype;  // kUnknown: we have none
  int bits;     // in raw_data; 0: no number
  // The value of the bits, where they are not the bytes of `dtype`.
  float (*decode)(uint32_t bits) = nullptr;
};

// Floats of 8 bits and fewer: a sign unless there is none, `exponent` and
// `mantissa` bits. Source: onnx.ai/onnx/technical/float8.html.
float SmallFloat(uint32_t bits, int exponent, int mantissa, int bias) {
  const uint32_t fraction = bits & ((1u << mantissa) - 1);
  const auto power =
      static_cast<int>((bits >> mantissa) & ((1u << exponent) - 1));
  const bool negative = ((bits >> (mantissa + exponent)) & 1) != 0;
  const float scale = std::ldexp(1.0F, -mantissa);
  const float value =
      power == 0 ? std::ldexp(static_cast<float>(fraction) * scale, 1 - bias)
                 : std::ldexp(1.0F + static_cast<float>(fraction) * scale,
                              power - bias);
  return negative ? -value : value;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float E4m3fn(uint32_t bits) {
  return (bits & 0x7f) == 0x7f ? kNan : SmallFloat(bits, 4, 3, 7);
}
float E4m3fnuz(uint32_t bits) {
  return bits == 0x80 ? kNan : SmallFloat(bits, 4, 3, 8);
}
float E5m2(uint32_t bits) {
  if ((bits & 0x7c) != 0x7c) return SmallFloat(bits, 5, 2, 15);
  if ((bits & 3) != 0) return kNan;
  return (bits & 0x80) != 0 ? -INFINITY : INFINITY;
}
float E5m2fnuz(uint32_t bits) {
  return bits == 0x80 ? kNan : SmallFloat(bits, 5, 2, 16);
}
float E8m0(uint32_t bits) {
  return bits == 0xff ? kNan : std::ldexp(1.0F, static_cast<int>(bits) - 127);
}
float E2m1(uint32_t bits) { return SmallFloat(bits, 2, 1, 1); }
float Unsigned(uint32_t bits) { return static_cast<float>(bits); }
float Int4(uint32_t bits) {
  return static_cast<float>(static_cast<int>(bits ^ 8) - 8);
}
float Int2(uint32_t bits) {
  return static_cast<float>(static_cast<int>(bits ^ 2) - 2);
}

constexpr TypeRow kTypes[] = {
    {TensorProto::kFloat, "FLOAT", DType::kF32, 32},
    {TensorProto::kUint8, "UINT8", DType::kU8, 8},
    {TensorProto::kInt8, "INT8", DType::kI8, 8},
    {TensorProto::kUint16, "UINT16", DType::kU16, 16},
    {TensorProto::kInt16, "INT16", DType::kI16, 16},
    {TensorProto::kInt32, "INT32", DType::kI32, 32},
    {TensorProto::kInt64, "INT64", DType::kI64, 64},
    {TensorProto::kString, "STRING", DType::kUnknown, 0},
    {TensorProto::kBool, "BOOL", DType::kBool, 8},
    {TensorProto::kFloat16, "FLOAT16", DType::kF16, 16},
    {TensorProto::kDouble, "DOUBLE", DType::kF64, 64},
    {TensorProto::kUint32, "UINT32", DType::kU32, 32},
    {TensorProto::kUint64, "UINT64", DType::kU64, 64},
    {TensorProto::kComplex64, "COMPLEX64", DType::kUnknown, 0},
    {TensorProto::kComplex128, "COMPLEX128", DType::kUnknown, 0},
    {TensorProto::kBfloat16, "BFLOAT16", DType::kBF16, 16},
    {TensorProto::kFloat8e4m3fn, "FLOAT8E4M3FN", DType::kF32, 8, E4m3fn},
    {TensorProto::kFloat8e4m3fnuz, "FLOAT8E4M3FNUZ", DType::kF32, 8, E4m3fnuz},
    {TensorProto::kFloat8e5m2, "FLOAT8E5M2", DType::kF32, 8, E5m2},
    {TensorProto::kFloat8e5m2fnuz, "FLOAT8E5M2FNUZ", DType::kF32, 8, E5m2fnuz},
    {TensorProto::kUint4, "UINT4", DType::kU8, 4, Unsigned},
    {TensorProto::kInt4, "INT4", DType::kI8, 4, Int4},
    {TensorProto::kFloat4e2m1, "FLOAT4E2M1", DType::kF32, 4, E2m1},
    {TensorProto::kFloat8e8m0, "FLOAT8E8M0", DType::kF32, 8, E8m0},
    {TensorProto::kUint2, "UINT2", DType::kU8, 2, Unsigned},
    {TensorProto::kInt2, "INT2", DType::kI8, 2, Int2},
};

const TypeRow* RowOf(int32_t data_type) {
  const auto found = std::ranges::find(kTypes, data_type, &TypeRow::data_type);
  return found == std::end(kTypes) ? nullptr : found;
}

// What the tensor's lists give: as many numbers as it has elements, or pieces
// of packed bytes.
class Decoder {
 public:
  Decoder(const TensorProto& tensor, const TypeRow& row, int64_t elements)
      : tensor_(tensor), row_(row), elements_(elements) {}

  // Where `bytes` are the raw ones.
  Tensor FromRaw(const TensorType& type, std::span<const std::byte> bytes,
                 std::shared_ptr<const void> owner) const {
    if (row_.decode == nullptr && !bytes.empty() &&
        IsAligned(bytes.data(), type.dtype)) {
      return Tensor(type, std::move(owner), bytes.data());
    }
    std::byte* to = nullptr;
    Tensor result = Tensor::Allocate(type, &to);
    if (row_.decode == nullptr) {
      std::ranges::copy(bytes, to);
      return result;
    }
    const int per_byte = 8 / row_.bits;
    for (int64_t i = 0; i < elements_; ++i) {
      const auto byte = static_cast<uint32_t>(bytes[i / per_byte]);
      Store(to, type.dtype, i, Bits(byte, i % per_byte));
    }
    return result;
  }

  // nullopt where there are too few or too many.
  std::optional<Tensor> FromLists(const TensorType& type) const {
    std::byte* to = nullptr;
    const auto allocate = [&](size_t given) {
      if (given != static_cast<size_t>(elements_))
        return std::optional<Tensor>();
      return std::optional(Tensor::Allocate(type, &to));
    };
    const auto copy = [&](const auto& list) {
      std::optional<Tensor> result = allocate(list.size());
      for (int64_t i = 0; result && i < elements_; ++i) {
        StoreElement(to + i * SizeOf(type.dtype), type.dtype,
                     static_cast<Element>(list[i]));
      }
      return result;
    };
    switch (tensor_.data_type) {
      case TensorProto::kFloat:
        return copy(tensor_.float_data);
      case TensorProto::kDouble:
        return copy(tensor_.double_data);
      case TensorProto::kInt64:
        return copy(tensor_.int64_data);
      case TensorProto::kUint32:
      case TensorProto::kUint64:
        return copy(tensor_.uint64_data);
      case TensorProto::kFloat16:
      case TensorProto::kBfloat16: {
        std::optional<Tensor> result = allocate(tensor_.int32_data.size());
        for (int64_t i = 0; result && i < elements_; ++i) {
          const auto bits = static_cast<uint16_t>(tensor_.int32_data[i]);
          std::memcpy(to + 2 * i, &bits, 2);
        }
        return result;
      }
      default:
        break;
    }
    if (row_.decode == nullptr) return copy(tensor_.int32_data);
    const int per_number = row_.bits == 8 ? 1 : 8 / row_.bits;
    const auto numbers =
        static_cast<size_t>((elements_ + per_number - 1) / per_number);
    if (tensor_.int32_data.size() != numbers) return std::nullopt;
    Tensor result = Tensor::Allocate(type, &to);
    for (int64_t i = 0; i < elements_; ++i) {
      const auto byte =
          static_cast<uint32_t>(tensor_.int32_data[i / per_number]);
      Store(to, type.dtype, i, Bits(byte, i % per_number));
    }
    return result;
  }

 private:
  static bool IsAligned(const std::byte* data, DType dtype) {
    return reinterpret_cast<uintptr_t>(data) % SizeOf(dtype) == 0;
  }
  uint32_t Bits(uint32_t byte, int64_t part) const {
    return (byte >> (part * row_.bits)) & ((1u << row_.bits) - 1);
  }
  void Store(std::byte* to, DType dtype, int64_t i, uint32_t bits) const {
    StoreElement(to + i * SizeOf(dtype), dtype, row_.decode(bits));
  }

  const TensorProto& tensor_;
  const TypeRow& row_;
  const int64_t elements_;
};

std::optional<uint64_t> NumberOf(Text text) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<DType> DTypeOf(int32_t data_type) {
  const TypeRow* row = RowOf(data_type);
  if (row == nullptr || row->dtype == DType::kUnknown) return std::nullopt;
  return row->dtype;
}

std::string DataTypeName(int32_t data_type) {
  const TypeRow* row = RowOf(data_type);
  return row == nullptr ? fmt::format("type {}", data_type) : row->name;
}

int32_t DataTypeOf(DType dtype) {
  const auto found = std::ranges::find_if(kTypes, [&](const TypeRow& row) {
    return row.dtype == dtype && row.decode == nullptr;
  });
  return found == std::end(kTypes) ? TensorProto::kUndefined : found->data_type;
}

int32_t NarrowType(int32_t data_type) {
  const auto dtype = DTypeOf(data_type);
  return dtype && DataTypeOf(*dtype) == data_type ? 0 : data_type;
}

Result<std::span<const std::byte>> TensorFiles::External(
    const TensorProto& tensor, uint64_t size,
    std::shared_ptr<const void>& owner) const {
  Text location;
  uint64_t offset = 0;
  for (const StringStringEntryProto& entry : tensor.external_data) {
    if (entry.key == "location") location = entry.value;
    if (entry.key != "offset" && entry.key != "length") continue;
    const auto number = NumberOf(entry.value);
    if (!number) {
      return Error({}, "the {} '{}' of its external data is no number",
                   entry.key, entry.value.substr(0, 40));
    }
    if (entry.key == "offset") offset = *number;
    if (entry.key == "length" && *number != size) {
      return Error({}, "its external data have {} bytes, expected {}", *number,
                   size);
    }
  }
  const fs::path relative{std::string(location)};
  if (location.empty() || relative.is_absolute() ||
      std::ranges::count(relative, fs::path("..")) > 0 ||
      location.find('\0') != Text::npos) {
    return Error({},
                 "its external data lie in '{}', expected a file in the "
                 "model's folder",
                 location.substr(0, 200));
  }
  const std::string path = (fs::path(folder_) / relative).string();
  std::error_code ignored;
  const fs::path home = fs::weakly_canonical(
      folder_.empty() ? fs::path(".") : fs::path(folder_), ignored);
  const fs::path real = fs::weakly_canonical(path, ignored);
  if (std::ranges::mismatch(home, real).in1 != home.end()) {
    return Error({}, "its external data '{}' lead out of the model's folder",
                 location.substr(0, 200));
  }
  auto found = mapped_.find(path);
  if (found == mapped_.end()) {
    const auto file = runtime::MappedFile::Open(path);
    if (!file.ok()) return Error({}, "{}", file.status().message());
    found = mapped_.emplace(path, Mapped{file->owner(), file->bytes()}).first;
  }
  const auto bytes = found->second.bytes;
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return Error({},
                 "its external data are bytes {} to {} of '{}', which has "
                 "{}",
                 offset, offset + size, location.substr(0, 200), bytes.size());
  }
  owner = found->second.owner;
  return bytes.subspan(offset, size);
}

Result<Tensor> TensorFiles::Read(const TensorProto& tensor) const {
  const auto found = read_.find(&tensor);
  if (found != read_.end()) return found->second;
  MXC_ASSIGN(Tensor value, ReadAnew(tensor));
  read_.emplace(&tensor, value);
  return value;
}

Result<Tensor> TensorFiles::ReadAnew(const TensorProto& tensor) const {
  const TypeRow* row = RowOf(tensor.data_type);
  if (row == nullptr || row->bits == 0) {
    return Error({}, "its elements are {}, which no tensor of ours can hold",
                 DataTypeName(tensor.data_type));
  }
  if (tensor.dims.size() > size_t{kMaxTensorRank}) {
    return Error({}, "it has {} axes; at most {} are supported",
                 tensor.dims.size(), kMaxTensorRank);
  }
  // Where an extent is 0, the others are bounded, too.
  int64_t elements = 1, bound = 1;
  for (const int64_t dim : tensor.dims) {
    if (dim < 0) return Error({}, "it has an extent of {}", dim);
    if (dim > 0 && bound > kMaxTensorBytes / 8 / dim) {
      return Error({}, "it has more elements than a process can address");
    }
    bound *= std::max<int64_t>(1, dim);
    elements *= dim;
  }
  const TensorType type = {row->dtype, Shape(tensor.dims)};
  const auto size = static_cast<uint64_t>((elements * row->bits + 7) / 8);
  const Decoder decoder(tensor, *row, elements);
  if (tensor.data_location == TensorProto::kExternal) {
    std::shared_ptr<const void> owner;
    MXC_ASSIGN(const auto bytes, External(tensor, size, owner));
    return decoder.FromRaw(type, bytes, std::move(owner));
  }
  if (!tensor.raw_data.empty() || elements == 0) {
    if (tensor.raw_data.size() != size) {
      return Error({}, "it has {} bytes, expected {}", tensor.raw_data.size(),
                   size);
    }
    return decoder.FromRaw(type, std::as_bytes(std::span(tensor.raw_data)),
                           owner_);
  }
  if (auto listed = decoder.FromLists(type)) return std::move(*listed);
  return Error({}, "its list has not the {} elements of its shape {}", elements,
               ToString(type.shape));
}

}  // namespace mxc::onnx
