// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/make_weight.h"

#include <algorithm>

#include "runtime/formats/convert.h"

namespace mxc {
namespace {

using runtime::Array;
using runtime::NamedArray;

// Transposes in squares, so that both sides are read by whole lines.
template <class T>
void TransposeInto(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kSide = 32;
  for (int64_t r0 = 0; r0 < rows; r0 += kSide) {
    for (int64_t c0 = 0; c0 < columns; c0 += kSide) {
      for (int64_t r = r0; r < std::min(r0 + kSide, rows); ++r) {
        for (int64_t c = c0; c < std::min(c0 + kSide, columns); ++c) {
          to[c * rows + r] = from[r * columns + c];
        }
      }
    }
  }
}

// One parameter, as its row says.
class Making {
 public:
  Making(const WeightRow& row, const std::string& file)
      : row_(row), file_(file) {}

  Result<Array> Make(const std::vector<const NamedArray*>& from) const {
    std::vector<Array> parts;
    for (const NamedArray* named : from) {
      MXC_ASSIGN(Array part, Widened(named->array));
      if (row_.transpose) {
        MXC_ASSIGN(part, Transposed(named->name, part));
      }
      parts.push_back(std::move(part));
    }
    MXC_ASSIGN(Array whole, Joined(from, parts));
    return row_.rows ? Cut(from[0]->name, whole) : whole;
  }

 private:
  Diagnostic Wrong(const std::string& name, const Array& array,
                   const std::string& expected) const {
    return Error(row_.loc, "{}: '{}' has shape {}, expected {}", file_, name,
                 ToString(Shape(array.shape)), expected);
  }

  static Result<Array> New(runtime::ElementType type,
                           std::vector<int64_t> shape) {
    auto array = Array::Allocate(type, std::move(shape));
    if (!array.ok()) return Error({}, "{}", array.status().message());
    return std::move(*array);
  }

  // All that an operator multiplies is float32 here.
  static Result<Array> Widened(const Array& array) {
    if (array.type != runtime::ElementType::kF16 &&
        array.type != runtime::ElementType::kBF16) {
      return array;
    }
    MXC_ASSIGN(Array wide, New(runtime::ElementType::kF32, array.shape));
    runtime::ConvertElements(array.type, array.bytes(), wide.type,
                             wide.bytes());
    return wide;
  }

  Result<Array> Transposed(const std::string& name, const Array& array) const {
    if (array.shape.size() != 2) {
      return Wrong(name, array, "a matrix, which is transposed");
    }
    if (array.type != runtime::ElementType::kF32) {
      return Error(row_.loc, "{}: '{}' is transposed, expected floats", file_,
                   name);
    }
    const int64_t rows = array.shape[0], columns = array.shape[1];
    MXC_ASSIGN(Array out, New(array.type, {columns, rows}));
    TransposeInto(reinterpret_cast<const float*>(array.bytes().data()), rows,
                  columns, reinterpret_cast<float*>(out.bytes().data()));
    return out;
  }

  Result<Array> Joined(const std::vector<const NamedArray*>& from,
                       const std::vector<Array>& parts) const {
    if (parts.size() == 1) return parts[0];
    std::vector<int64_t> shape = parts[0].shape;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Array& part = parts[i];
      if (part.shape.empty() || part.type != parts[0].type ||
          !std::equal(part.shape.begin() + 1, part.shape.end(),
                      shape.begin() + 1, shape.end())) {
        return Wrong(from[i]->name, part,
                     "one that joins '" + from[0]->name + "'");
      }
      if (i > 0) shape[0] += part.shape[0];
    }
    MXC_ASSIGN(Array whole, New(parts[0].type, shape));
    std::byte* to = whole.bytes().data();
    for (const Array& part : parts) {
      const auto bytes = part.bytes();
      to = std::copy(bytes.begin(), bytes.end(), to);
    }
    return whole;
  }

  Result<Array> Cut(const std::string& name, const Array& array) const {
    const auto [first, end] = *row_.rows;
    if (array.shape.empty() || array.shape[0] < end) {
      return Wrong(name, array, fmt::format("{} rows or more", end));
    }
    std::vector<int64_t> shape = array.shape;
    shape[0] = end - first;
    MXC_ASSIGN(Array out, New(array.type, shape));
    const auto bytes = array.bytes();
    const size_t row = bytes.size() / static_cast<size_t>(array.shape[0]);
    std::ranges::copy(
        bytes.subspan(row * static_cast<size_t>(first), out.bytes().size()),
        out.bytes().begin());
    return out;
  }

  const WeightRow& row_;
  const std::string& file_;
};

// With each 16-bit array widened.
uint64_t BytesOf(const std::vector<const NamedArray*>& arrays) {
  uint64_t bytes = 0;
  for (const NamedArray* named : arrays)
    bytes += 2 * named->array.bytes().size();
  return bytes;
}

}  // namespace

WeightMaker::WeightMaker(const std::string& file, const ParameterArrays& arrays)
    : file_(file), left_(0) {
  constexpr uint64_t kGrowth = 8;
  for (const NamedArray& named : arrays) {
    left_ += kGrowth * named.array.bytes().size();
  }
}

Result<Array> WeightMaker::Make(const WeightRow& row,
                                const std::vector<const NamedArray*>& from) {
  const auto too_much = [&] {
    return Error(row.loc,
                 "{}: the table makes more than eight times the file's bytes "
                 "of it",
                 file_);
  };
  if (BytesOf(from) > left_) return too_much();
  MXC_ASSIGN(Array made, Making(row, file_).Make(from));
  left_ -= std::min<uint64_t>(made.bytes().size(), left_);
  return made;
}

}  // namespace mxc
