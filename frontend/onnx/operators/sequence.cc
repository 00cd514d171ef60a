// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals, which are taken apart when a network is imported: how
// many elements there are is known then.
#include <algorithm>
#include <cstring>

#include "frontend/onnx/call.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {
namespace {

constexpr size_t kMostElements = 1 << 12;

const std::vector<Operand>& ElementsOf(Call& c, int i) {
  const auto& elements = c.SequenceOf(i);
  c.Require(!c.operand(i).optional,
            "input {} is an optional, expected a sequence", i);
  return elements;
}

void RequireTensor(Call& c, const Operand& operand) {
  c.Require(operand.sequence == nullptr,
            "a sequence is given as the element of a sequence");
}

Tensor SequenceWord(DType dtype, double value) {
  std::byte* to = nullptr;
  Tensor tensor = Tensor::Allocate({dtype, Shape(Extents())}, &to);
  StoreElement(to, dtype, static_cast<Element>(value));
  return tensor;
}

// The position that input i names, `last` where it is missing; at most `most`.
size_t PositionOf(Call& c, int i, size_t count, int64_t last, int64_t most) {
  const int64_t asked = c.Has(i) ? c.NeedInt(i, "position") : last;
  const auto size = static_cast<int64_t>(count);
  c.Require(asked >= -size && asked <= most,
            "position {} does not exist in a sequence of {}", asked, count);
  return static_cast<size_t>(asked < 0 ? asked + size : asked);
}

}  // namespace

void ImportSequenceConstruct(Call& c) {
  std::vector<Operand> elements;
  for (int i = 0; i < c.inputs(); ++i) {
    elements.push_back(c.operand(i));
    RequireTensor(c, elements.back());
    c.Require(c.DTypeOf(i) == c.DTypeOf(0),
              "element {} is of {}, the first of {}", i,
              MxnetName(c.DTypeOf(i)), MxnetName(c.DTypeOf(0)));
  }
  c.GiveSequence(0, std::move(elements));
}

void ImportSequenceEmpty(Call& c) {
  c.Ignore("dtype");
  c.GiveSequence(0, {});
}

void ImportSequenceInsert(Call& c) {
  std::vector<Operand> elements = ElementsOf(c, 0);
  RequireTensor(c, c.operand(1));
  c.Require(elements.size() < kMostElements,
            "the sequence has more than {} elements", kMostElements);
  const auto count = static_cast<int64_t>(elements.size());
  const size_t at = PositionOf(c, 2, elements.size(), count, count);
  elements.insert(elements.begin() + static_cast<int64_t>(at), c.operand(1));
  c.GiveSequence(0, std::move(elements));
}

void ImportSequenceErase(Call& c) {
  std::vector<Operand> elements = ElementsOf(c, 0);
  const auto count = static_cast<int64_t>(elements.size());
  c.Require(count > 0, "the sequence is empty");
  const size_t at = PositionOf(c, 1, elements.size(), count - 1, count - 1);
  elements.erase(elements.begin() + static_cast<int64_t>(at));
  c.GiveSequence(0, std::move(elements));
}

void ImportSequenceAt(Call& c) {
  const std::vector<Operand>& elements = ElementsOf(c, 0);
  c.Require(c.Has(1), "its position, input 1, is missing");
  const auto count = static_cast<int64_t>(elements.size());
  c.Give(0, elements[PositionOf(c, 1, elements.size(), 0, count - 1)]);
}

void ImportSequenceLength(Call& c) {
  c.Give(0, SequenceWord(DType::kI64,
                         static_cast<double>(ElementsOf(c, 0).size())));
}

namespace {

// The elements with begin ≤ index < end along the axis.
Operand PartOfSplit(Call& c, int axis, int64_t begin, int64_t end, bool keeps) {
  Extents dims = c.ShapeOf(0).dims();
  dims[axis] = end - begin;
  if (!keeps) dims.erase(dims.begin() + axis);
  if (Call::IsEmpty(dims)) {
    return {.known = c.EmptyTensor(c.DTypeOf(0), dims)};
  }
  const Value part = c.SliceAxis(c.In(0), axis, begin, end);
  return OperandOf(c.Reshape(part, dims));
}

}  // namespace

void ImportSplitToSequence(Call& c) {
  const Shape shape = c.ShapeOf(0);
  c.Require(shape.rank() > 0, "a scalar cannot be split");
  const int axis = c.Axis(c.Int("axis", 0), shape.rank());
  const bool keeps = c.Flag("keepdims", true);
  Extents parts;
  const auto add = [&](int64_t extent) {
    c.Require(parts.size() < kMostElements, "it makes more than {} elements",
              kMostElements);
    parts.push_back(extent);
  };
  int64_t left = shape[axis];
  if (c.Has(1) && c.RankOf(1) > 0) {
    for (const int64_t part : c.NeedInts(1, "split")) {
      c.Require(part >= 0 && part <= left,
                "its split does not add up to the extent {} of axis {}",
                shape[axis], axis);
      left -= part;
      add(part);
    }
    c.Require(left == 0,
              "its split does not add up to the extent {} of axis {}",
              shape[axis], axis);
  } else {
    const int64_t each = c.Has(1) ? c.NeedInt(1, "split") : 1;
    c.Require(each > 0, "its split is {}, expected a positive number", each);
    for (; left > 0; left -= parts.back()) add(std::min(each, left));
  }
  std::vector<Operand> elements;
  int64_t begin = 0;
  for (const int64_t part : parts) {
    elements.push_back(
        PartOfSplit(c, axis, begin, begin + part, keeps || c.Has(1)));
    begin += part;
  }
  c.GiveSequence(0, std::move(elements));
}

void ImportConcatFromSequence(Call& c) {
  std::vector<Operand> elements = ElementsOf(c, 0);
  const int64_t asked = c.Int("axis");
  const bool stacks = c.Flag("new_axis");
  c.Require(!elements.empty(), "the sequence is empty");
  const TensorType first = elements[0].type();
  const int rank = first.shape.rank() + (stacks ? 1 : 0);
  c.Require(rank > 0, "scalars cannot be joined");
  const int axis = c.Axis(asked, rank);
  std::vector<Value> parts;
  Extents dims = first.shape.dims();
  if (stacks) dims.insert(dims.begin() + axis, 1);
  const Extents expected = dims;
  dims[axis] = 0;
  for (Operand& element : elements) {
    RequireTensor(c, element);
    Extents own = element.type().shape.dims();
    if (stacks) own.insert(own.begin() + axis, 1);
    bool fits =
        own.size() == expected.size() && element.type().dtype == first.dtype;
    for (int i = 0; fits && i < rank; ++i) {
      fits = own[i] == expected[i] || (i == axis && !stacks);
    }
    c.Require(fits, "an element is {}, the first {}", ToString(element.type()),
              ToString(first));
    dims[axis] += own[axis];
    if (Call::IsEmpty(own)) continue;
    const Value value = c.ValueOf(element);
    parts.push_back(stacks ? c.Unsqueeze(value, axis) : value);
  }
  if (parts.empty()) return c.GiveEmpty(first.dtype, dims);
  c.Give(0, c.Concat(parts, axis));
}

// The body, once for each element.
void ImportSequenceMap(Call& c) {
  const GraphProto& body = c.GraphOf("body");
  const size_t count = ElementsOf(c, 0).size();
  for (int i = 1; i < c.inputs(); ++i) {
    const Operand& operand = c.operand(i);
    if (operand.sequence == nullptr) continue;
    c.Require(operand.sequence->size() == count,
              "input {} has {} elements, input 0 has {}", i,
              operand.sequence->size(), count);
  }
  std::vector<std::vector<Operand>> results(c.outputs());
  for (size_t k = 0; k < count; ++k) {
    c.CountTurn();
    std::vector<Operand> inputs;
    for (int i = 0; i < c.inputs(); ++i) {
      const Operand& operand = c.operand(i);
      inputs.push_back(operand.sequence == nullptr ? operand
                                                   : (*operand.sequence)[k]);
    }
    auto outputs = c.Run(body, std::move(inputs), std::to_string(k));
    c.Require(outputs.size() >= results.size(),
              "its body has {} outputs, expected {}", outputs.size(),
              results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      RequireTensor(c, outputs[i]);
      results[i].push_back(std::move(outputs[i]));
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    c.GiveSequence(static_cast<int>(i), std::move(results[i]));
  }
}

void ImportOptional(Call& c) {
  c.Ignore("type");
  Operand optional{.optional = true};
  std::vector<Operand> element;
  if (c.Has(0)) {
    c.Require(!c.operand(0).optional, "it is an optional of an optional");
    element.push_back(c.operand(0));
  }
  optional.sequence =
      std::make_shared<const std::vector<Operand>>(std::move(element));
  c.Give(0, std::move(optional));
}

void ImportOptionalGetElement(Call& c) {
  const Operand& operand = c.operand(0);
  if (!operand.optional) return c.Give(0, operand);
  c.Require(!operand.sequence->empty(), "the optional is empty");
  c.Give(0, operand.sequence->front());
}

void ImportOptionalHasElement(Call& c) {
  bool has = c.Has(0);
  if (has && c.operand(0).optional) has = !c.operand(0).sequence->empty();
  c.Give(0, SequenceWord(DType::kBool, has ? 1 : 0));
}

}  // namespace mxc::onnx
