// SPDX-License-Identifier: Apache-2.0
// _call: a function that the artifact imports (CallForm).
//   inputs …   of one element type
//   outputs …  of that type and of the shapes given
// C1  the function is known
#include "ir/ops/tensor/call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "ir/ops/op.h"
#include "ir/program/call_function.h"

namespace mxc {
namespace {

struct CallAttrs {
  int64_t num_args = 0;
  std::string function, attributes;
  std::string shapes;  // "64x64,64", of the outputs

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("function", function).Required().Doc("its name");
    f("attributes", attributes).Doc("words name=value, as it reads them");
    f("shapes", shapes).Required().Doc("of the outputs");
  }

  std::vector<Shape> outputs() const {
    std::vector<Shape> list;
    Extents dims;
    for (const char *at = shapes.data(), *end = at + shapes.size(); at < end;) {
      int64_t extent = 0;
      at = std::from_chars(at, end, extent).ptr;
      dims.push_back(extent);
      if (at == end || *at == ',')
        list.emplace_back(std::move(dims)), dims = {};
      ++at;
    }
    return list;
  }
};

std::vector<InputSpec> CallInputs(const CallAttrs& a) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < a.num_args; ++i) {
    inputs.push_back({"arg" + std::to_string(i)});
  }
  return inputs;
}

std::vector<std::string> CallOutputs(const CallAttrs& a) {
  std::vector<std::string> names;
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    names.push_back("output" + std::to_string(i));
  }
  return names;
}

std::optional<std::string> CheckCall(const CallAttrs& a) {
  if (FindCallFunction(a.function, 1) != nullptr) return std::nullopt;
  return fmt::format("C1: function '{}' is unknown", a.function);
}

void CallTypes(const CallAttrs& a, TypeInference& t) {
  t.AllSameDType();
  int output = 0;
  for (const Shape& shape : a.outputs()) t.SetOut(output++, shape);
}

}  // namespace

std::vector<Value> CallOf(GraphBuilder& b, std::string_view function,
                          const std::string& attributes,
                          std::vector<Value> inputs,
                          const std::vector<Shape>& outputs) {
  std::vector<std::string> shapes;
  for (const Shape& shape : outputs) {
    shapes.push_back(fmt::format("{}", fmt::join(shape.dims(), "x")));
  }
  const std::string count = std::to_string(inputs.size());
  return b.Ops("_call", std::move(inputs),
               {{"num_args", count},
                {"function", std::string(function)},
                {"attributes", attributes},
                {"shapes", fmt::format("{}", fmt::join(shapes, ","))}},
               function);
}

MXC_OP(Call) {
  return Op<CallAttrs>("_call")
      .Doc("a function that the artifact imports")
      .InputsOf(CallInputs)
      .OutputsOf(CallOutputs)
      .Variadic()
      .Internal()
      .Check(CheckCall)
      .Types(CallTypes)
      .AsCall([](const CallAttrs& a) {
        return CallForm{a.function, 1, a.attributes};
      });
}

}  // namespace mxc
