// SPDX-License-Identifier: Apache-2.0
// The text form of programs; parse.cc reads it back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/support/fnv1a.h"
#include "ir/support/lexer.h"

namespace mxc {
namespace {

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

std::string PrintBuffer(const Program& program, size_t index) {
  const Buffer& b = program.buffers[index];
  std::string out =
      fmt::format("  buffer {} {} {} {} {}", index, Quoted(b.name),
                  ToString(b.type), ToString(b.layout), KindName(b.kind));
  if (b.kind == BufferKind::kNextState) out += fmt::format(" {}", b.state);
  out += Print(b.use);
  if (program.IsOnHost(b)) out += " host";
  if (b.alias_of >= 0) out += fmt::format(" alias {}", b.alias_of);
  if (b.alias_begin > 0) out += fmt::format(" from {}", b.alias_begin);
  if (b.offset >= 0) out += fmt::format(" offset {}", b.offset);
  const bool initialised = b.kind == BufferKind::kState && !b.constant.empty();
  if ((b.kind == BufferKind::kConstant || initialised) &&
      b.constant.shape().elements() <= kMaxPrintedElements) {
    out += " =";
    for (int64_t i = 0; i < b.constant.shape().elements(); ++i) {
      out += " " + ToString(b.constant.ExactAt(i), b.type.dtype);
    }
  }
  return out + "\n";
}

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
  return out + "\n" + step.body.Print();
}

std::string PrintBody(const Program& program) {
  std::string out;
  if (program.planned()) {
    out += fmt::format(" arena {} lower {} naive {}", program.arena_bytes(),
                       program.lower_bound_bytes, program.naive_bytes);
    const int64_t host = program.ArenaBytesOf(PlaceKind::kHost);
    if (host > 0) out += fmt::format(" host {}", host);
  }
  out += " {\n";
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    out += PrintBuffer(program, i);
  }
  for (const Step& step : program.steps) out += PrintStep(step);
  return out + "}\n";
}

}  // namespace

std::string PrintInner(const Program& program) {
  std::string out;
  const std::string body = PrintBody(program);
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find('\n', at) + 1;
    out += (at > 0 ? "    " : "") + body.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string Print(const Program& program) {
  return fmt::format("program @{}.{}{}", program.name, program.entry.Name(),
                     PrintBody(program));
}

uint64_t Hash(const Program& program) { return Fnv1a(Print(program)); }

}  // namespace mxc
