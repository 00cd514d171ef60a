// SPDX-License-Identifier: Apache-2.0
// Element types, shapes and host tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/check.h"

namespace mxc {

enum class DType : int8_t {
  kUnknown = -1,
#define X(name, flag, bits, kind, mxnet_name, short_name) k##name = flag,
#include "runtime/abi/dtype.def"
};

int64_t SizeOf(DType dtype);              // bytes of one element
std::string_view ShortName(DType dtype);  // "f32", as the text form prints
std::string_view MxnetName(DType dtype);  // "float32", as attributes say
std::optional<DType> DTypeFromShortName(std::string_view name);
std::optional<DType> DTypeFromMxnetName(std::string_view name);
std::optional<DType> DTypeFromFlag(int64_t flag);
std::string_view CName(DType dtype);  // "float"; of the bits: "uint16_t"
bool IsFloat(DType dtype);            // f16, bf16, f32, f64
// The type in which values of `dtype` are computed and summed before they are
// rounded to it: f32 for f16 and bf16, otherwise the same.
DType AccumulateType(DType dtype);

// What an element of any type is, exactly: a double or an integer of 64 bits.
using Element = long double;
static_assert(std::numeric_limits<Element>::digits >= 64);

// A list of extents, strides, pads …, one entry for each axis.
using Extents = std::vector<int64_t>;

// A shape whose rank, and whose dimensions one by one, may still be unknown.
// After type inference every shape in a Graph is fully known.
class Shape {
 public:
  static constexpr int64_t kUnknownDim = -1;

  Shape() = default;  // unknown rank
  Shape(Extents dims) : known_rank_(true), dims_(std::move(dims)) {}
  Shape(std::initializer_list<int64_t> dims) : known_rank_(true), dims_(dims) {}
  static Shape Unknown() { return {}; }
  static Shape OfRank(int rank) { return Shape(Extents(rank, kUnknownDim)); }

  bool known_rank() const { return known_rank_; }
  bool known() const;  // rank and every dimension
  bool known(int axis) const { return dims_[axis] != kUnknownDim; }
  int rank() const {
    MXC_CHECK(known_rank_);
    return static_cast<int>(dims_.size());
  }
  int64_t operator[](int axis) const { return dims_[axis]; }
  int64_t& operator[](int axis) { return dims_[axis]; }
  const Extents& dims() const { return dims_; }
  // Product of the dimensions, which must be known; 1 for rank 0. 2^62 stands
  // for whatever is more: no type that Unfit lets pass.
  int64_t elements() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  bool known_rank_ = false;
  Extents dims_;
};

// "(2, 3, ?)", "(?)" for an unknown rank.
std::string ToString(const Shape& shape);
std::string ToString(const Extents& extents);

// Product of the entries, without overflow: nullopt if above 2^62.
std::optional<int64_t> CheckedProduct(const Extents& extents);

struct TensorType {
  DType dtype = DType::kUnknown;
  Shape shape;

  bool known() const { return dtype != DType::kUnknown && shape.known(); }
  int64_t bytes() const;  // likewise up to 2^62
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

std::string ToString(const TensorType& type);  // "f32[1, 3, 8, 8]"

// What a network's tensors may be at most. An artifact's tables hold so many
// axes (MXC_MAX_RANK), a process of x86-64 has addresses for so many bytes.
inline constexpr int kMaxTensorRank = 8;
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 47;

// Why no tensor of a network can have this type, as far as the type is known,
// in words that follow "has": "shape (1, 0), which has no elements; …". Either
// its rank or its bytes are beyond what is said above, or an extent is 0, which
// means "unknown" where MXNet's legacy shapes are read and is not supported
// where it does not. nullopt: nothing speaks against it.
std::optional<std::string> Unfit(const TensorType& type);

// A dense row-major array on the host. Copies share the bytes, which are never
// written after construction; `owner` keeps them alive (a vector, a mapping).
class Tensor {
 public:
  Tensor() = default;
  Tensor(TensorType type, std::shared_ptr<const void> owner,
         const std::byte* data);
  // Zero-filled, with a pointer through which the maker may still write.
  static Tensor Allocate(TensorType type, std::byte** data);
  static Tensor FromFloats(Shape shape, std::span<const float> values);
  static Tensor Filled(TensorType type, double value);
  // `make` is called, once, when somebody first asks for elements: a report on
  // shapes and bytes never does. It returns a tensor of that type. Copies share
  // it; the first question must not come from two threads at once.
  static Tensor Deferred(TensorType type, std::function<Tensor()> make);

  bool empty() const { return data_ == nullptr && later_ == nullptr; }
  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  const std::byte* bytes() const;
  // The same for copies of one tensor alone; makes no elements.
  const void* identity() const {
    return later_ ? static_cast<const void*>(later_.get()) : data_;
  }
  int64_t size_bytes() const { return type_.bytes(); }
  // f32 only.
  std::span<const float> floats() const;
  // Element `i` in row-major order, any type but kUnknown.
  double At(int64_t i) const;
  Element ExactAt(int64_t i) const;

 private:
  struct Later;

  TensorType type_;
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  std::shared_ptr<Later> later_;  // of a deferred tensor
};

// Reads and writes one element of any type, as SetElement of
// runtime/base/element.h does; what is narrower than f32 is rounded to f32
// first, as MXNet's half is.
Element LoadElement(const std::byte* at, DType dtype);
void StoreElement(std::byte* at, DType dtype, Element value);
Element Rounded(Element value, DType dtype);  // as stored and read again
// "0.5", "-3": as the text forms print it, all digits.
std::string ToString(Element value, DType dtype);

}  // namespace mxc
