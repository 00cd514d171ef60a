// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/contraction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "ir/program/contraction_text.h"
#include "ir/program/flops.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/names.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/program/role_strides.h"
#include "ir/program/verify.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

std::vector<Role> ReadRoles(Lexer& lex) {
  std::vector<Role> roles;
  lex.Expect("[");
  while (!lex.AtEnd() && !lex.Accept("]")) {
    const auto role = FromName<Role>(kRoleNames, lex.Identifier());
    if (!role) lex.Fail("a role");
    roles.push_back(role.value_or(Role::kBatch));
  }
  return roles;
}

// "[bf16 bf16 f32 bf16]": of data, weight, sums and output.
ContractionTypes ReadTypes(Lexer& lex) {
  ContractionTypes types;
  lex.Expect("[");
  for (DType* type : {&types.data, &types.weight, &types.sum, &types.output}) {
    const auto dtype = DTypeFromShortName(lex.Identifier());
    if (!dtype) lex.Fail("an element type");
    *type = dtype.value_or(DType::kF32);
  }
  lex.Expect("]");
  return types;
}

// "mma [128 64 32]"; numbers may be negative.
KernelChoice ReadChoice(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  KernelChoice choice;
  choice.algorithm = lex.Identifier();
  while (lex.Accept("-")) choice.algorithm += "-" + lex.Identifier();
  lex.Expect("[");
  while (!lex.AtEnd() && !lex.Accept("]")) {
    choice.numbers.push_back(lex.Integer());
  }
  return choice;
}

std::optional<std::string> VerifyMaxima(const Program& program,
                                        const Step& step,
                                        const ContractionStep& body) {
  if (body.maxima.empty()) return std::nullopt;
  const Contraction& c = body.contraction;
  if (body.maxima.size() != c.kernel.size()) return "maxima of other axes";
  const Shape& shape = program.buffers[step.outputs[0]].type.shape;
  for (size_t axis = 0; axis < c.output_axes.size(); ++axis) {
    if (c.output_axes[axis] < Role::kSpatial0) continue;
    const size_t k = static_cast<size_t>(c.output_axes[axis]) -
                     static_cast<size_t>(Role::kSpatial0);
    if (k >= body.maxima.size() || body.maxima[k] < 1 ||
        shape[static_cast<int>(axis)] != c.output[k] / body.maxima[k]) {
      return "maxima of windows that are not the output's";
    }
  }
  return std::nullopt;
}

std::optional<std::string> VerifyInt4(const Contraction& c,
                                      const Shape& weight) {
  const int64_t group = c.int4_group;
  if (group == 0) return std::nullopt;
  if (group < 2 || group % 2 != 0 || c.in % group != 0) {
    return fmt::format("groups of {} of {} inputs", group, c.in);
  }
  const bool fits = c.types.weight == DType::kU8 && IsFloat(c.types.sum) &&
                    c.groups == 1 && c.kernel.empty() &&
                    c.weight_axes == std::vector<Role>{Role::kOut, Role::kIn} &&
                    weight == Shape({c.out, WeightRows(c)});
  if (fits) return std::nullopt;
  return fmt::format("weights of 4 bits in {}", ToString(weight));
}

std::optional<std::string> VerifySpatial(const Contraction& c) {
  const std::tuple<std::string_view, const Extents*, int64_t> lists[] = {
      {"input", &c.input, 1},    {"output", &c.output, 1},
      {"kernel", &c.kernel, 1},  {"stride", &c.stride, 1},
      {"dilate", &c.dilate, 1},  {"data_dilate", &c.data_dilate, 1},
      {"pad", &c.pad, INT64_MIN}};
  if (c.kernel.size() > 3) return "more than three spatial axes";
  for (const auto& [name, extents, least] : lists) {
    if (extents->size() != c.kernel.size()) {
      return fmt::format("{} has {} entries, kernel {}", name, extents->size(),
                         c.kernel.size());
    }
    for (const int64_t extent : *extents) {
      if (extent < least) return fmt::format("{} holds {}", name, extent);
    }
  }
  return std::nullopt;
}

}  // namespace

DType SumTypeOf(DType data, DType weight, DType output) {
  int64_t bytes = 4;
  if (IsFloat(data) || IsFloat(weight)) {
    for (const DType dtype : {data, weight}) {
      if (IsFloat(dtype)) bytes = std::max(bytes, SizeOf(dtype));
    }
    return bytes == 4 ? DType::kF32 : DType::kF64;
  }
  for (const DType dtype : {data, weight, output}) {
    bytes = std::max(bytes, SizeOf(dtype));
  }
  return bytes == 4 ? DType::kI32 : DType::kI64;
}

Contraction InParts(const Contraction& c, int64_t parts) {
  MXC_CHECK(c.groups == 1 && c.in % parts == 0, "{} of {}", parts, c.in);
  Contraction cut = c;
  cut.groups = parts;
  cut.in = c.in / parts;
  for (std::vector<Role>* axes :
       {&cut.data_axes, &cut.weight_axes, &cut.output_axes}) {
    for (Role& role : *axes) {
      role = role == Role::kIn           ? Role::kGroupIn
             : role == Role::kGroupBatch ? Role::kBatch
             : role == Role::kGroupOut   ? Role::kOut
                                         : role;
    }
  }
  cut.output_axes.insert(cut.output_axes.begin(), Role::kGroup);
  cut.types.output = cut.types.sum;
  return cut;
}

Extents OutputDims(const Contraction& c) {
  return DimsOf(c, c.output_axes, c.output);
}

std::string ContractionStep::Print() const {
  std::string out =
      fmt::format("    contraction {}\n", ToString(contraction, "\n    "));
  if (!choice.algorithm.empty()) {
    out += fmt::format("    kernel {} [{}]\n", choice.algorithm,
                       fmt::join(choice.numbers, " "));
  }
  out += "    epilogue " + mxc::Print(epilogue) + "\n";
  if (maxima.empty()) return out;
  return out + fmt::format("    maxima ({})\n", fmt::join(maxima, ", "));
}

StepBody ReadContraction(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("contraction");
  ContractionStep body;
  Contraction& c = body.contraction;
  c.batch = reader.Named("n");
  c.groups = reader.Named("g");
  c.in = reader.Named("k");
  c.out = reader.Named("m");
  c.input = reader.NamedList("input");
  c.output = reader.NamedList("output");
  c.kernel = reader.NamedList("kernel");
  c.stride = reader.NamedList("stride");
  c.dilate = reader.NamedList("dilate");
  c.pad = reader.NamedList("pad");
  c.data_dilate.assign(c.kernel.size(), 1);
  if (lex.Peek() == "data_dilate")
    c.data_dilate = reader.NamedList("data_dilate");
  c.flip = lex.Accept("flip");
  if (lex.Accept("types")) c.types = ReadTypes(lex);
  if (lex.Peek() == "int4") c.int4_group = reader.Named("int4");
  reader.SetAccType(c.types.sum);
  lex.Expect("axes");
  c.data_axes = ReadRoles(lex);
  c.weight_axes = ReadRoles(lex);
  c.output_axes = ReadRoles(lex);
  if (lex.Accept("kernel")) body.choice = ReadChoice(reader);
  lex.Expect("epilogue");
  body.epilogue = reader.Value();
  if (lex.Accept("maxima")) body.maxima = reader.List();
  return body;
}

std::optional<std::string> ContractionStep::Verify(const Program& program,
                                                   const Step& step) const {
  if (step.inputs.size() < 2 || step.outputs.size() != 1) {
    return "a contraction needs two inputs and one output";
  }
  const Contraction& c = contraction;
  const std::tuple<const std::vector<Role>*, DType, int> operands[] = {
      {&c.data_axes, c.types.data, step.inputs[0]},
      {&c.weight_axes, c.types.weight, step.inputs[1]},
      {&c.output_axes, c.types.output, step.outputs[0]}};
  for (const auto& [axes, dtype, buffer] : operands) {
    const TensorType& type = program.buffers[buffer].type;
    if (static_cast<int>(axes->size()) != type.shape.rank()) {
      return fmt::format("roles of another rank than buffer {}", buffer);
    }
    if (dtype != type.dtype) {
      return fmt::format("a contraction's operand of {} is {}",
                         ShortName(dtype), ToString(type));
    }
  }
  if (auto error = VerifySpatial(c)) return error;
  const Shape& weight = program.buffers[step.inputs[1]].type.shape;
  if (auto error = VerifyInt4(c, weight)) return error;
  if (auto error = VerifyMaxima(program, step, *this)) return error;
  const TensorType& type = program.buffers[step.outputs[0]].type;
  if (epilogue->dtype != type.dtype) {
    return fmt::format("stores {} into {}", ShortName(epilogue->dtype),
                       ToString(type));
  }
  return VerifyExpr(program, step, epilogue, type.shape.dims().size());
}

std::string ContractionStep::Key(const Program&, const Step&,
                                 const ExprText& text) const {
  std::string key;
  const Contraction& c = contraction;
  const auto roles = [&](const std::vector<Role>& axes) {
    for (const Role role : axes) {
      key += fmt::format(",{}", static_cast<int>(role));
    }
    key += ';';
  };
  key +=
      fmt::format("|contraction {},{},{},{}", c.batch, c.groups, c.in, c.out);
  for (const Extents* extents : {&c.input, &c.output, &c.kernel, &c.stride,
                                 &c.dilate, &c.pad, &c.data_dilate}) {
    key += fmt::format("[{}]", fmt::join(*extents, ","));
  }
  key += c.flip ? "flip" : "";
  key += fmt::format("{},{},{},{}", ShortName(c.types.data),
                     ShortName(c.types.weight), ShortName(c.types.sum),
                     ShortName(c.types.output));
  key += fmt::format(",{}", c.int4_group);
  roles(c.data_axes);
  roles(c.weight_axes);
  roles(c.output_axes);
  key +=
      fmt::format("{} [{}] ", choice.algorithm, fmt::join(choice.numbers, ","));
  key += text(epilogue);
  if (!maxima.empty()) {
    key += fmt::format("|maxima {}", fmt::join(maxima, ","));
  }
  return key;
}

double ContractionStep::Flops(const Program& program, const Step& step) const {
  const Extents extent =
      maxima.empty() ? program.buffers[step.outputs[0]].type.shape.dims()
                     : OutputDims(contraction);
  return static_cast<double>(contraction.flops()) +
         OperationsOf(epilogue, extent);
}

}  // namespace mxc
