// SPDX-License-Identifier: Apache-2.0
// _map: what its attribute says, a program of one Map step in its text form.
//   inputs …   as the program's inputs
//   outputs …  as its outputs
// C1  `program` is such a program
#include "ir/ops/tensor/map.h"

#include <map>

#include "ir/ops/op.h"
#include "ir/program/add_buffer.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

struct MapAttrs {
  int64_t num_args = 0;
  std::string program;

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("program", program).Required().Doc("one Map step, as text");
  }

  // Null if the text is no program of one Map step.
  const Program* parsed() const {
    if (cache_ != nullptr) return cache_.get();
    auto file = std::make_shared<SourceFile>(SourceFile{"_map", program});
    Result<Program> parsed = ParseProgram(file);
    if (!parsed.ok() || Verify(*parsed) || parsed->steps.size() != 1 ||
        parsed->steps[0].map() == nullptr) {
      return nullptr;
    }
    cache_ = std::make_shared<const Program>(std::move(*parsed));
    return cache_.get();
  }

 private:
  mutable std::shared_ptr<const Program> cache_;
};

std::vector<InputSpec> MapInputs(const MapAttrs& a) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < a.num_args; ++i) {
    inputs.push_back({"arg" + std::to_string(i)});
  }
  return inputs;
}

std::vector<std::string> MapOutputs(const MapAttrs& a) {
  std::vector<std::string> names;
  if (const Program* program = a.parsed()) {
    for (const int buffer : program->BuffersOf(BufferKind::kOutput)) {
      names.push_back(program->buffers[buffer].name);
    }
  }
  return names;
}

std::optional<std::string> CheckMap(const MapAttrs& a) {
  if (a.parsed() != nullptr) return std::nullopt;
  return "C1: program is not one Map step";
}

void MapTypes(const MapAttrs& a, TypeInference& t) {
  const Program& program = *a.parsed();
  const std::vector<int> inputs = program.BuffersOf(BufferKind::kInput);
  if (!t.Require(static_cast<int>(inputs.size()) == t.inputs(),
                 "{} inputs, expected {}", t.inputs(), inputs.size())) {
    return;
  }
  for (int i = 0; i < t.inputs(); ++i) {
    const TensorType& type = program.buffers[inputs[i]].type;
    t.SetIn(i, type.shape);
    t.SetInDType(i, type.dtype);
  }
  int output = 0;
  for (const int buffer : program.BuffersOf(BufferKind::kOutput)) {
    const TensorType& type = program.buffers[buffer].type;
    t.SetOut(output, type.shape);
    t.SetOutDType(output++, type.dtype);
  }
}

void MapMeaning(const MapAttrs& a, Definition& def) {
  for (const Store& store : a.parsed()->steps[0].map()->stores) {
    def.Set(store.output, store.value);
  }
}

// The text form of the outputs over `operands`; `used` are those they read.
Program ProgramOf(std::span<const Value> operands,
                  std::span<const MapOutput> outputs,
                  std::vector<Value>& used) {
  Program program;
  program.name = "map";
  program.entry.of = "map";
  Step step;
  step.name = "map";
  const auto add = [&](const TensorType& type, BufferKind kind) {
    return AddBuffer(program, std::to_string(program.buffers.size()), type,
                     kind);
  };
  std::map<int, int> place;  // operand → input of the step
  for (const MapOutput& output : outputs) {
    VisitLoads(output.value, [&](const ExprNode& load) {
      const auto next = static_cast<int>(used.size());
      if (!place.emplace(load.index, next).second) return;
      used.push_back(operands[load.index]);
      step.inputs.push_back(add(used.back().type(), BufferKind::kInput));
    });
  }
  Map map;
  for (const MapOutput& output : outputs) {
    const Expr value = Rewrite(output.value, [&](const Expr& e) {
      return e->kind == ExprKind::kLoad
                 ? Load(place.at(e->index), e->dtype, e->args)
                 : Expr();
    });
    const Extents& dims = output.type.shape.dims();
    map.stores.push_back({static_cast<int>(step.outputs.size()),
                          Extents(dims.size(), 0), dims,
                          Cast(value, output.type.dtype)});
    step.outputs.push_back(add(output.type, BufferKind::kOutput));
  }
  step.body = std::move(map);
  program.steps.push_back(std::move(step));
  return program;
}

}  // namespace

std::vector<Value> MapOf(GraphBuilder& builder, std::span<const Value> operands,
                         std::span<const MapOutput> outputs,
                         std::string_view role) {
  std::vector<Value> used;
  const Program program = ProgramOf(operands, outputs, used);
  const auto broken = Verify(program);
  MXC_CHECK(!broken, "{} of '{}': {}", role, builder.origin().name, *broken);
  return builder.Ops(
      "_map", used,
      {{"num_args", std::to_string(used.size())}, {"program", Print(program)}},
      role);
}

MXC_OP(Map) {
  return Op<MapAttrs>("_map")
      .Doc("tensors as kernel IR over other tensors")
      .InputsOf(MapInputs)
      .OutputsOf(MapOutputs)
      .Variadic()
      .Internal()
      .Check(CheckMap)
      .Types(MapTypes)
      .Meaning(MapMeaning);
}

}  // namespace mxc
