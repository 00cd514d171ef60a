// SPDX-License-Identifier: Apache-2.0
// _call: a function that the compiler knows and the artifact imports.
//   inputs …   of one element type
//   outputs …  of that type and of the shapes given
// C1  the function is known
#include "ir/ops/tensor/control/call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "ir/ops/op.h"
#include "ir/program/call_function.h"

namespace mxc {
namespace {

std::optional<std::string> CheckCall(const CallAttrs& a) {
  if (FindCallFunction(a.function, 1) != nullptr) return std::nullopt;
  return fmt::format("C1: function '{}' is unknown", a.function);
}

void CallTypes(const CallAttrs& a, TypeInference& t) {
  t.AllSameDType();
  int output = 0;
  for (const Shape& shape : a.outputs()) t.SetOut(output++, shape);
}

// The extent at the beginning of `text`, which it leaves behind.
std::optional<int64_t> TakeExtent(std::string_view& text) {
  int64_t extent = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), extent);
  if (error != std::errc() || extent < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return extent;
}

// Likewise a shape.
std::optional<Shape> TakeShape(std::string_view& text) {
  Extents dims;
  if (text.empty() || text.front() == ',') return Shape(std::move(dims));
  while (true) {
    const std::optional<int64_t> extent = TakeExtent(text);
    if (!extent) return std::nullopt;
    dims.push_back(*extent);
    if (!text.starts_with('x')) return Shape(std::move(dims));
    text.remove_prefix(1);
  }
}

}  // namespace

std::optional<std::vector<Shape>> ParseShapes(std::string_view text) {
  std::vector<Shape> shapes;
  while (true) {
    std::optional<Shape> shape = TakeShape(text);
    if (!shape) return std::nullopt;
    shapes.push_back(std::move(*shape));
    if (text.empty()) return shapes;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

std::string PrintShapes(const std::vector<Shape>& shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes) {
    texts.push_back(fmt::format("{}", fmt::join(shape.dims(), "x")));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

std::vector<InputSpec> NumberedInputs(int64_t count) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < count; ++i) {
    inputs.push_back({"data" + std::to_string(i)});
  }
  return inputs;
}

std::vector<std::string> NumberedOutputs(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    names.push_back("output" + std::to_string(i));
  }
  return names;
}

std::vector<Value> CallOf(GraphBuilder& b, std::string_view function,
                          const std::string& attributes,
                          std::vector<Value> inputs,
                          const std::vector<Shape>& outputs) {
  CallAttrs attrs = {.num_args = std::ssize(inputs),
                     .function = std::string(function),
                     .attributes = attributes,
                     .shapes = PrintShapes(outputs)};
  return b.Ops<op::Call>(std::move(inputs), std::move(attrs), function);
}

MXC_OP(Call) {
  return Op<CallAttrs>("_call")
      .Doc("a function that the artifact imports")
      .InputsOf([](const CallAttrs& a) { return NumberedInputs(a.num_args); })
      .OutputsOf([](const CallAttrs& a) {
        return NumberedOutputs(a.outputs().size());
      })
      .Variadic()
      .Internal()
      .Check(CheckCall)
      .Types(CallTypes)
      .AsCall([](const CallAttrs& a) {
        return CallForm{.function = a.function, .attributes = a.attributes};
      });
}

}  // namespace mxc
