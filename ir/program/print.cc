// SPDX-License-Identifier: Apache-2.0
// The text form of expressions and programs; parse.cc reads it back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ir/program/contraction_text.h"
#include "ir/program/names.h"
#include "ir/program/program.h"
#include "ir/support/lexer.h"

namespace mxc {
namespace {

std::string Number(double value, DType dtype) {
  if (dtype == DType::kBool) return value != 0 ? "true" : "false";
  if (!IsFloat(dtype)) {
    const auto integer = fmt::format("{}", static_cast<int64_t>(value));
    if (dtype == DType::kI64) return integer;
    return fmt::format("{}:{}", integer, ShortName(dtype));
  }
  std::string text = dtype == DType::kF32
                         ? fmt::format("{}", static_cast<float>(value))
                         : fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  if (dtype != DType::kF32) text += fmt::format(":{}", ShortName(dtype));
  return text;
}

std::string VarName(int var) {
  return fmt::format("{}{}", var < kFirstReductionVar ? 'i' : 'r',
                     var < kFirstReductionVar ? var : var - kFirstReductionVar);
}

void PrintTo(const Expr& e, bool nested, std::string& out);

void PrintList(const std::vector<Expr>& list, std::string& out) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    PrintTo(list[i], false, out);
  }
}

void PrintBinary(const Expr& e, bool nested, std::string& out) {
  const std::string_view symbol = InfixSymbol(e->binary);
  if (symbol.empty()) {
    out += fmt::format("{}(", FunctionName(e->binary));
    PrintList(e->args, out);
    out += ")";
    return;
  }
  if (nested) out += "(";
  PrintTo(e->args[0], true, out);
  out += fmt::format(" {} ", symbol);
  PrintTo(e->args[1], true, out);
  if (nested) out += ")";
}

void PrintReduce(const Expr& e, std::string& out) {
  out += fmt::format("{}{{", ReduceName(e->reduce));
  for (size_t i = 0; i < e->ranges.size(); ++i) {
    out +=
        fmt::format("{}{} in ", i > 0 ? ", " : "", VarName(e->ranges[i].var));
    PrintTo(e->ranges[i].begin, true, out);
    out += " .. ";
    PrintTo(e->ranges[i].end, true, out);
  }
  out += "}(";
  PrintTo(e->args[0], false, out);
  out += ")";
}

void PrintTo(const Expr& e, bool nested, std::string& out) {
  switch (e->kind) {
    case ExprKind::kConst:
      out += Number(e->number, e->dtype);
      break;
    case ExprKind::kVar:
      out += VarName(e->index);
      break;
    case ExprKind::kAcc:
      out += "acc";
      break;
    case ExprKind::kBinary:
      PrintBinary(e, nested, out);
      break;
    case ExprKind::kReduce:
      PrintReduce(e, out);
      break;
    case ExprKind::kLoad:
      out += fmt::format("%{}[", e->index);
      PrintList(e->args, out);
      out += "]";
      break;
    case ExprKind::kUnary:
    case ExprKind::kSelect:
    case ExprKind::kCast:
      out += e->kind == ExprKind::kUnary ? std::string(FunctionName(e->unary))
             : e->kind == ExprKind::kSelect ? "select"
                                            : std::string(ShortName(e->dtype));
      out += "(";
      PrintList(e->args, out);
      out += ")";
      break;
  }
}

std::string_view KindName(BufferKind kind) {
  switch (kind) {
    case BufferKind::kInput:
      return "input";
    case BufferKind::kOutput:
      return "output";
    case BufferKind::kConstant:
      return "constant";
    case BufferKind::kInternal:
      return "internal";
    case BufferKind::kState:
      return "state";
    case BufferKind::kNextState:
      return "next";
  }
  return "";
}

// Rows of small constants; large ones are left out of the text.
constexpr int64_t kMaxPrintedElements = 64;

std::string PrintBuffer(const Buffer& b, size_t index) {
  std::string out =
      fmt::format("  buffer {} {} {} {} {}", index, Quoted(b.name),
                  ToString(b.type), ToString(b.layout), KindName(b.kind));
  if (b.kind == BufferKind::kNextState) out += fmt::format(" {}", b.state);
  if (b.alias_of >= 0) out += fmt::format(" alias {}", b.alias_of);
  if (b.alias_begin > 0) out += fmt::format(" from {}", b.alias_begin);
  if (b.offset >= 0) out += fmt::format(" offset {}", b.offset);
  const bool initialised = b.kind == BufferKind::kState && !b.constant.empty();
  if ((b.kind == BufferKind::kConstant || initialised) &&
      b.constant.shape().elements() <= kMaxPrintedElements) {
    out += " =";
    for (int64_t i = 0; i < b.constant.shape().elements(); ++i) {
      out += fmt::format(" {}", b.constant.At(i));
    }
  }
  return out + "\n";
}

std::string PrintContraction(const ContractionStep& body) {
  std::string out =
      fmt::format("    contraction {}\n", ToString(body.contraction, "\n    "));
  if (!body.choice.algorithm.empty()) {
    out += fmt::format("    kernel {} block={} tile={}x{}\n",
                       body.choice.algorithm, body.choice.block,
                       body.choice.tile_rows, body.choice.tile_vectors);
  }
  out += "    epilogue " + Print(body.epilogue) + "\n";
  if (body.maxima.empty()) return out;
  return out + fmt::format("    maxima ({})\n", fmt::join(body.maxima, ", "));
}

std::string PrintLoop(const TileLoop& loop);

std::string PrintStep(const Step& step) {
  std::string out =
      fmt::format("  step {} ({}) -> ({})", Quoted(step.name),
                  fmt::join(step.inputs, ", "), fmt::join(step.outputs, ", "));
  if (step.view) out += " view";
  if (step.scratch_bytes > 0)
    out += fmt::format(" scratch {}", step.scratch_bytes);
  for (size_t i = 0; i < step.origins.size(); ++i) {
    out +=
        fmt::format("{}{}", i == 0 ? " from " : ", ", Quoted(step.origins[i]));
  }
  out += "\n";
  if (const ContractionStep* body = step.contraction()) {
    return out + PrintContraction(*body);
  }
  if (const TileLoop* loop = step.loop()) return out + PrintLoop(*loop);
  for (const Store& store : step.map()->stores) {
    out += fmt::format("    store {} ({}) + ({}) = {}\n", store.output,
                       fmt::join(store.begin, ", "),
                       fmt::join(store.extent, ", "), Print(store.value));
  }
  return out;
}

std::string PrintBody(const Program& program) {
  std::string out;
  if (program.arena_bytes >= 0) {
    out += fmt::format(" arena {} lower {} naive {}", program.arena_bytes,
                       program.lower_bound_bytes, program.naive_bytes);
  }
  out += " {\n";
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    out += PrintBuffer(program.buffers[i], i);
  }
  for (const Step& step : program.steps) out += PrintStep(step);
  return out + "}\n";
}

std::string PrintWindow(const Window& window) {
  if (window.axis < 0) return "whole";
  return fmt::format("axis {} from {} by {}", window.axis, window.begin,
                     window.advance);
}

// The program of a tile, further to the right.
std::string PrintLoop(const TileLoop& loop) {
  std::string out = fmt::format("    tiles {} (", loop.tiles);
  for (size_t i = 0; i < loop.windows.size(); ++i) {
    out += (i > 0 ? ", " : "") + PrintWindow(loop.windows[i]);
  }
  out += ")";
  const std::string body = PrintBody(*loop.tile);
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find('\n', at) + 1;
    out += (at > 0 ? "    " : "") + body.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace

std::string Print(const Expr& e) {
  std::string out;
  PrintTo(Canonical(e), false, out);
  return out;
}

std::string Print(const Program& program) {
  return fmt::format("program @{}.{}{}", program.name, program.entry,
                     PrintBody(program));
}

uint64_t Hash(const Program& program) {
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : Print(program)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  return hash;
}

}  // namespace mxc
