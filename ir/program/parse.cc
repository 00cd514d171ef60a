// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/support/lexer.h"

namespace mxc {

#define MXC_STEP_KIND(Kind, word) StepBody Read##Kind(ProgramReader& reader);
#include "ir/program/steps.def"
#undef MXC_STEP_KIND

namespace {

constexpr int kMaxPrograms = 8;  // in each other
constexpr int64_t kMaxRank = 16;
constexpr int64_t kMaxElements = int64_t{1} << 31;  // of a parsed constant

struct StepReader {
  std::string_view word;  // that a step's body begins with
  StepBody (*read)(ProgramReader&);
};

constexpr StepReader kStepReaders[] = {
#define MXC_STEP_KIND(Kind, word) {word, &Read##Kind},
#include "ir/program/steps.def"
#undef MXC_STEP_KIND
};

}  // namespace

Result<Program> ProgramReader::Read() {
  lex_.Expect("program");
  lex_.Expect("@");
  std::string full = lex_.Identifier();
  while (lex_.Accept("-")) full += "-" + lex_.Identifier();
  const size_t dot = full.rfind('.');
  program_.name = full.substr(0, dot);
  if (dot != std::string::npos) {
    program_.entry = ProgramEntry::Named(full.substr(dot + 1));
  }
  ReadBody();
  lex_.ExpectEnd();
  if (lex_.failed()) return lex_.errors();
  return std::move(program_);
}

void ProgramReader::ReadBody() {
  if (lex_.Accept("arena")) {
    program_.places[kKernelPlace].arena_bytes = lex_.Integer();
    lex_.Expect("lower");
    program_.lower_bound_bytes = lex_.Integer();
    lex_.Expect("naive");
    program_.naive_bytes = lex_.Integer();
    if (lex_.Accept("host")) {
      const Place host = program_.PlaceFor(PlaceKind::kHost);
      program_.places[static_cast<size_t>(host)].arena_bytes = lex_.Integer();
    }
  }
  lex_.Expect("{");
  while (lex_.Accept("buffer")) ReadBuffer();
  while (lex_.Accept("step")) ReadStep();
  lex_.Expect("}");
}

void ProgramReader::ReadBuffer() {
  lex_.Integer();
  Buffer b;
  b.name = lex_.QuotedString();
  b.type = Type();
  b.layout = ReadLayout(b.type.shape.known_rank() ? b.type.shape.rank() : 0);
  const std::string kind = lex_.Identifier();
  if (kind == "input")
    b.kind = BufferKind::kInput;
  else if (kind == "output")
    b.kind = BufferKind::kOutput;
  else if (kind == "constant")
    b.kind = BufferKind::kConstant;
  else if (kind == "internal")
    b.kind = BufferKind::kInternal;
  else if (kind == "state")
    b.kind = BufferKind::kState;
  else if (kind == "next")
    b.kind = BufferKind::kNextState;
  else
    lex_.Fail("input, output, constant, internal, state or next");
  if (b.kind == BufferKind::kNextState) {
    b.state = static_cast<int>(lex_.Integer());
  }
  b.use = ReadTensorUse(lex_);
  if (lex_.Accept("host")) b.place = program_.PlaceFor(PlaceKind::kHost);
  if (lex_.Accept("alias")) b.alias_of = static_cast<int>(lex_.Integer());
  if (lex_.Accept("from")) b.alias_begin = lex_.Integer();
  if (lex_.Accept("offset")) b.offset = lex_.Integer();
  const bool initialised = b.kind == BufferKind::kState && lex_.Peek() == "=";
  if ((b.kind == BufferKind::kConstant || initialised) && !lex_.failed()) {
    ReadConstant(b);
  }
  program_.buffers.push_back(std::move(b));
}

// A constant whose values the text leaves out is zero.
void ProgramReader::ReadConstant(Buffer& b) {
  const auto elements = CheckedProduct(b.type.shape.dims());
  if (!elements || *elements > kMaxElements) {
    return lex_.Fail("a constant of reasonable size");
  }
  std::byte* bytes = nullptr;
  b.constant = Tensor::Allocate(b.type, &bytes);
  if (!lex_.Accept("=")) return;
  for (int64_t i = 0; i < *elements && !lex_.failed(); ++i) {
    StoreElement(bytes + i * SizeOf(b.type.dtype), b.type.dtype, lex_.Number());
  }
}

TensorType ProgramReader::Type() {
  TensorType type;
  const auto dtype = DTypeFromShortName(lex_.Peek());
  if (!dtype) lex_.Fail("an element type");
  lex_.Identifier();
  type.dtype = dtype.value_or(DType::kF32);
  Extents dims;
  lex_.Expect("[");
  while (!lex_.AtEnd() && !lex_.Accept("]")) {
    if (!dims.empty()) lex_.Expect(",");
    dims.push_back(lex_.Integer());
    if (dims.back() < 0 || dims.size() > kMaxRank) lex_.Fail("a dimension");
  }
  type.shape = Shape(dims);
  return type;
}

Layout ProgramReader::ReadLayout(int rank) {
  Layout layout;
  layout.halo_low.assign(rank, 0);
  layout.halo_high.assign(rank, 0);
  lex_.Expect("{");
  while (!lex_.AtEnd() && !lex_.Accept("}")) {
    const std::string_view word = lex_.Peek();
    if (word.starts_with("winograd") || word == "strassen") {
      for (const KernelBasis basis :
           {KernelBasis::kWinograd4, KernelBasis::kWinograd6,
            KernelBasis::kWinograd8, KernelBasis::kStrassen}) {
        if (word == BasisName(basis)) layout.basis = basis;
      }
      if (layout.basis == KernelBasis::kPlain) lex_.Fail("a basis");
      lex_.Identifier();
      continue;
    }
    if (word.starts_with("halo")) {
      const std::string name = lex_.Identifier();
      const int axis = name.size() == 5 ? name[4] - '0' : -1;
      lex_.Expect(":");
      const int64_t low = lex_.Integer();
      lex_.Expect("+");
      const int64_t high = lex_.Integer();
      if (axis < 0 || axis >= rank) return lex_.Fail("an axis"), layout;
      layout.halo_low[axis] = low;
      layout.halo_high[axis] = high;
      continue;
    }
    const int64_t axis = lex_.Integer();
    lex_.Expect(":");
    const int64_t extent = lex_.Integer();
    if (axis < 0 || axis >= rank || extent < 0) lex_.Fail("axis:extent");
    const int64_t span = lex_.Accept("of") ? lex_.Integer() : 0;
    if (span < 0) lex_.Fail("a span");
    layout.dims.push_back({static_cast<int>(axis), extent, span});
  }
  return layout;
}

std::vector<int> ProgramReader::ReadBuffers() {
  std::vector<int> list;
  for (const int64_t n : List()) {
    if (n < 0 || n >= static_cast<int64_t>(program_.buffers.size())) {
      lex_.Fail("a buffer");
    }
    list.push_back(static_cast<int>(n));
  }
  return list;
}

Extents ProgramReader::List() {
  Extents list;
  lex_.Expect("(");
  while (!lex_.AtEnd() && !lex_.Accept(")")) {
    if (!list.empty()) lex_.Expect(",");
    list.push_back(lex_.Integer());
  }
  return list;
}

void ProgramReader::ReadStep() {
  Step step;
  step.name = lex_.QuotedString();
  step.inputs = ReadBuffers();
  lex_.Expect("->");
  step.outputs = ReadBuffers();
  step.view = lex_.Accept("view");
  if (lex_.Accept("scratch")) step.scratch_bytes = lex_.Integer();
  if (lex_.Accept("from")) {
    do {
      step.origins.push_back(lex_.QuotedString());
    } while (lex_.Accept(","));
  }
  std::vector<DType> operands;
  if (!lex_.failed()) {
    for (const int b : step.inputs) {
      operands.push_back(program_.buffers[b].type.dtype);
    }
  }
  exprs_.BeginStep(std::move(operands));
  outputs_ = step.outputs;
  step.body = Body();
  program_.steps.push_back(std::move(step));
}

StepBody ProgramReader::Body() {
  for (const StepReader& kind : kStepReaders) {
    if (lex_.Peek() == kind.word) return kind.read(*this);
  }
  return StepBody();
}

void ProgramReader::DeclareOutputs() {
  if (lex_.failed()) return;
  for (const int b : outputs_) Declare(program_.buffers[b].type.dtype);
}

int64_t ProgramReader::Named(std::string_view name) {
  lex_.Expect(name);
  lex_.Expect("=");
  return lex_.Integer();
}

Extents ProgramReader::NamedList(std::string_view name) {
  lex_.Expect(name);
  lex_.Expect("=");
  return List();
}

std::shared_ptr<const Program> ProgramReader::Inner() {
  Program whole = std::exchange(program_, Program());
  program_.name = whole.name;
  program_.entry = whole.entry;
  if (++depth_ > kMaxPrograms) {
    lex_.Fail("fewer loops in each other");
  } else {
    ReadBody();
  }
  --depth_;
  std::swap(program_, whole);
  return std::make_shared<const Program>(std::move(whole));
}

Result<Program> ParseProgram(std::shared_ptr<const SourceFile> text) {
  return ProgramReader(std::move(text)).Read();
}

}  // namespace mxc
