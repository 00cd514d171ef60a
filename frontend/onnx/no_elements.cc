// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/no_elements.h"

#include <algorithm>
#include <utility>

namespace mxc::onnx {
namespace {

bool IsTensor(const Operand* operand) {
  return operand != nullptr && operand->given() && operand->sequence == nullptr;
}

bool HasNone(const Operand* operand) {
  return IsTensor(operand) && Call::IsEmpty(operand->type().shape);
}

// Widens `dims` to what a tensor of that shape broadcasts to with it, as NumPy
// does. Whether it does.
bool Broadcast(const Shape& shape, Extents& dims) {
  const auto rank = static_cast<size_t>(shape.rank());
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  const size_t more = dims.size() - rank;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t extent = shape[static_cast<int>(axis)];
    int64_t& dim = dims[more + axis];
    if (extent != dim && extent != 1 && dim != 1) return false;
    if (extent != 1) dim = extent;
  }
  return true;
}

}  // namespace

NoElements::NoElements(std::vector<Operand*>& inputs) {
  if (std::ranges::none_of(inputs, HasNone)) return;
  single_.reserve(inputs.size());  // the pointers stay
  for (Operand*& input : inputs) {
    if (!IsTensor(input)) continue;
    const TensorType& type = input->type();
    broadcast_ = broadcast_ && Broadcast(type.shape, dims_);
    single_.push_back(
        {.known = Tensor::Filled({type.dtype, Shape(Extents())}, 0),
         .narrow = input->narrow});
    input = &single_.back();
  }
}

void NoElements::GiveResults(Call& call) const {
  if (single_.empty()) return;
  call.Require(broadcast_, "its operands' shapes do not broadcast");
  for (Operand& result : call.results()) {
    if (!result.given()) continue;
    result = {.known = call.EmptyTensor(result.type().dtype, Shape(dims_)),
              .narrow = result.narrow};
  }
}

}  // namespace mxc::onnx
