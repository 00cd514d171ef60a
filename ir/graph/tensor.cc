// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/element.h"

namespace mxc {
namespace {

runtime::ElementType ElementOf(DType dtype) {
  MXC_CHECK(dtype != DType::kUnknown, "element type is unknown");
  return static_cast<runtime::ElementType>(dtype);
}

const runtime::ElementFacts& Facts(DType dtype) {
  return runtime::FactsOf(ElementOf(dtype));
}

std::optional<DType> Find(std::string_view runtime::ElementFacts::* name,
                          std::string_view wanted) {
  const auto* const found =
      std::ranges::find(runtime::kElementFacts, wanted, name);
  if (found == std::end(runtime::kElementFacts)) return std::nullopt;
  return static_cast<DType>(found - runtime::kElementFacts);
}

constexpr int64_t kLargestProduct = int64_t{1} << 62;

}  // namespace

int64_t SizeOf(DType dtype) { return Facts(dtype).bytes; }
std::string_view ShortName(DType dtype) {
  return dtype == DType::kUnknown ? "?" : Facts(dtype).short_name;
}
std::string_view MxnetName(DType dtype) { return Facts(dtype).name; }
std::string_view CName(DType dtype) { return Facts(dtype).c_type; }

std::optional<DType> DTypeFromShortName(std::string_view name) {
  return Find(&runtime::ElementFacts::short_name, name);
}

std::optional<DType> DTypeFromMxnetName(std::string_view name) {
  return Find(&runtime::ElementFacts::name, name);
}

std::optional<DType> DTypeFromFlag(int64_t flag) {
  const auto type = runtime::ElementTypeFromFlag(flag);
  if (!type) return std::nullopt;
  return static_cast<DType>(*type);
}

bool IsFloat(DType dtype) {
  return dtype != DType::kUnknown && runtime::IsFloat(ElementOf(dtype));
}

DType AccumulateType(DType dtype) {
  return IsFloat(dtype) && SizeOf(dtype) < 4 ? DType::kF32 : dtype;
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
  int64_t bytes = type.dtype == DType::kUnknown ? 1 : SizeOf(type.dtype);
  bool fits = true;
  for (const int64_t dim : dims) {
    if (dim == 0) {
      return fmt::format(
          "shape {}, which has no elements; expected extents "
          "from 1",
          ToString(type.shape));
    }
    if (dim == Shape::kUnknownDim) continue;
    fits = fits && dim > 0 && bytes <= kMaxTensorBytes / dim;
    if (fits) bytes *= dim;
  }
  if (fits) return std::nullopt;
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

Element Tensor::ExactAt(int64_t i) const {
  return LoadElement(bytes() + i * SizeOf(type_.dtype), type_.dtype);
}

double Tensor::At(int64_t i) const { return static_cast<double>(ExactAt(i)); }

Element LoadElement(const std::byte* at, DType dtype) {
  return runtime::WithElementOf(ElementOf(dtype), [&]<class T>(T) {
    const T element = runtime::ReadElement<T>(at);
    return static_cast<Element>(runtime::ValueOf(element));
  });
}

void StoreElement(std::byte* at, DType dtype, Element value) {
  if (AccumulateType(dtype) != dtype) value = static_cast<float>(value);
  runtime::WithElementOf(ElementOf(dtype), [&](auto element) {
    runtime::SetElement(value, element);
    std::memcpy(at, &element, sizeof element);
  });
}

std::string ToString(Element value, DType dtype) {
  if (IsFloat(dtype)) return fmt::format("{}", static_cast<double>(value));
  if (value < 0) return fmt::format("{}", static_cast<int64_t>(value));
  return fmt::format("{}", static_cast<uint64_t>(value));
}

Element Rounded(Element value, DType dtype) {
  std::byte bytes[sizeof(int64_t)];
  StoreElement(bytes, dtype, value);
  return LoadElement(bytes, dtype);
}

}  // namespace mxc
