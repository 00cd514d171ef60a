// SPDX-License-Identifier: Apache-2.0
// Constants, and what follows from numbers alone.
#include <cmath>
#include <cstring>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

void ImportConstant(Call& c) {
  if (c.HasAttribute("value")) {
    int32_t data_type = 0;
    c.Give(0, c.TensorOf("value", &data_type));
    return c.SetDataType(0, data_type);
  }
  if (c.HasAttribute("value_int")) {
    return c.Give(0, IntTensor({c.Int("value_int")}, Shape(Extents())));
  }
  if (const auto ints = c.Ints("value_ints")) {
    return c.Give(0, IntTensor(*ints, Shape{std::ssize(*ints)}));
  }
  if (c.HasAttribute("value_float")) {
    const auto value = static_cast<float>(c.Float("value_float"));
    return c.Give(0, Tensor::FromFloats(Shape(Extents()), {&value, 1}));
  }
  if (const auto floats = c.Floats("value_floats")) {
    return c.Give(0, Tensor::FromFloats(
                         Shape{static_cast<int64_t>(floats->size())}, *floats));
  }
  c.Refuse("its value is a string or a sparse tensor, which are not supported");
}

void ImportConstantOfShape(Call& c) {
  const Shape shape = c.NeedInts(0, "shape");
  c.Require(shape.rank() <= kMaxTensorRank, "its shape has {} extents",
            shape.rank());
  Tensor value = Tensor::Filled({DType::kF32, Shape{1}}, 0);
  int32_t data_type = TensorProto::kFloat;
  if (c.HasAttribute("value")) value = c.TensorOf("value", &data_type);
  c.Require(value.shape().elements() == 1,
            "its value has {} elements, expected one",
            value.shape().elements());
  const DType dtype = value.type().dtype;
  for (const int64_t dim : shape.dims()) {
    c.Require(dim >= 0, "shape {} has a negative extent", ToString(shape));
  }
  if (Call::IsEmpty(shape)) {
    c.GiveEmpty(dtype, shape);
    return c.SetDataType(0, data_type);
  }
  if (const auto unfit = Unfit({dtype, shape})) c.Refuse("it has {}", *unfit);
  constexpr int64_t kSmall = 1 << 16;
  if (shape.elements() <= kSmall) {
    std::byte* to = nullptr;
    Tensor all = Tensor::Allocate({dtype, shape}, &to);
    const auto size = static_cast<size_t>(SizeOf(dtype));
    for (int64_t i = 0; i < shape.elements(); ++i) {
      std::memcpy(to + i * size, value.bytes(), size);
    }
    c.Give(0, std::move(all));
  } else {
    c.Give(0, c.Everywhere(c.Constant(value, "value"), shape));
  }
  c.SetDataType(0, data_type);
}

void ImportRange(Call& c) {
  const char* const words[] = {"start", "limit", "delta"};
  Element numbers[3];
  for (int i = 0; i < 3; ++i) {
    const Tensor tensor = c.Need(i, words[i]);
    c.Require(tensor.shape().elements() == 1 && c.DTypeOf(i) == c.DTypeOf(0),
              "its {} is {}, expected one element of the type of its start",
              words[i], ToString(tensor.type()));
    numbers[i] = tensor.ExactAt(0);
  }
  const auto [start, limit, step] = numbers;
  c.Require(step != 0, "its delta is 0");
  const Element steps = std::ceil((limit - start) / step);
  constexpr Element kMost = 1 << 24;
  c.Require(!(steps > kMost), "its result has {} elements",
            static_cast<double>(steps));
  const int64_t count = steps > 0 ? static_cast<int64_t>(steps) : 0;
  c.RequireFew(count);
  const DType dtype = c.DTypeOf(0);
  std::byte* to = nullptr;
  Tensor range = Tensor::Allocate({dtype, Shape{count}}, &to);
  for (int64_t i = 0; i < count; ++i) {
    StoreElement(to + i * SizeOf(dtype), dtype,
                 start + static_cast<Element>(i) * step);
  }
  c.Give(0, std::move(range));
}

}  // namespace mxc::onnx
