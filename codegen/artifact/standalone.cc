// SPDX-License-Identifier: Apache-2.0
// --emit=obj,header: each entry as one C function without a runtime.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/artifact/c_names.h"
#include "codegen/artifact/flat_program.h"
#include "codegen/artifact/states.h"
#include "codegen/artifact/weights.h"
#include "codegen/codegen.h"
#include "codegen/llvm/entry_function.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/object_symbols.h"
#include "ir/program/memory.h"
#include "ir/program/steps/branch.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/collective.h"
#include "ir/program/steps/repeat.h"
#include "runtime/abi/abi.h"

namespace mxc {
namespace {

std::string Upper(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

// Between the quotes of a C string.
std::string Quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return out;
}

// The calls of an entry, those of a body inside of their loop or branch.
class CallPlanner {
 public:
  CallPlanner(const FlatProgram& flat, const std::vector<StepCode>& steps,
              const CodeImage& code)
      : flat_(flat), steps_(steps), code_(code) {}

  std::vector<EntryFunction::Call> Plan(size_t first, size_t end) {
    std::vector<EntryFunction::Call> calls;
    for (size_t row = first; row < end; ++row) {
      const Step& step = flat_.program.steps[row];
      const size_t other = row + 1 + static_cast<size_t>(flat_.bodies[row]);
      const size_t behind = other + static_cast<size_t>(flat_.others[row]);
      if (const Repeat* repeat = step.body.As<Repeat>()) {
        EntryFunction::Call loop = LoopOf(*repeat, step);
        loops_.push_back(static_cast<int>(row));
        loop.body = Plan(row + 1, behind);
        loops_.pop_back();
        if (!loop.body.empty()) calls.push_back(std::move(loop));
        row = behind - 1;
      } else if (step.body.As<Branch>() != nullptr) {
        EntryFunction::Call branch;
        branch.condition = ElementOf(step.inputs[0]);
        branch.body = Plan(row + 1, other);
        branch.other = Plan(other, behind);
        calls.push_back(std::move(branch));
        row = behind - 1;
      } else if (steps_[row].tasks > 0) {
        calls.push_back(CallOf(step, steps_[row]));
      }
    }
    return calls;
  }

 private:
  EntryFunction::Call CallOf(const Step& step, const StepCode& code) const {
    EntryFunction::Call call;
    call.kernel = code_.kernels[code.kernel].name;
    call.tasks = code.tasks;
    call.uses_scratch = code.scratch_bytes > 0;
    for (const int b : step.operands()) call.operands.push_back(OperandOf(b));
    return call;
  }

  EntryFunction::Call LoopOf(const Repeat& repeat, const Step& step) const {
    EntryFunction::Call loop;
    loop.turns = repeat.turns;
    if (repeat.condition >= 0) {
      loop.condition = ElementOf(step.operands()[repeat.condition]);
    }
    if (repeat.count >= 0) loop.count = ElementOf(step.inputs[repeat.count]);
    loop.last = repeat.count >= 0 && repeat.reversed;
    return loop;
  }

  EntryFunction::Element ElementOf(int b) const {
    return {OperandOf(b), flat_.program.buffers[b].type.dtype};
  }

  EntryFunction::Operand OperandOf(int b) const {
    EntryFunction::Operand operand;
    operand.advances.resize(loops_.size());
    operand.buffer = flat_.program.Root(b);
    operand.bytes = flat_.program.BytesIntoRoot(b);
    while (const auto& window = flat_.windows[operand.buffer]) {
      const auto loop = std::ranges::find(loops_, window->loop);
      operand.advances[loop - loops_.begin()] += window->advance;
      operand.bytes += window->offset;
      operand.buffer = window->root;
    }
    return operand;
  }

  const FlatProgram& flat_;
  const std::vector<StepCode>& steps_;  // by row
  const CodeImage& code_;
  std::vector<int> loops_;  // rows of those around
};

// Where each buffer of an entry lies, and what the arena needs beside them.
EntryFunction PlanEntry(const Program& program,
                        const std::vector<StepCode>& steps,
                        const CodeImage& code, const StateTable& states,
                        WeightsSection& weights) {
  EntryFunction entry;
  entry.has_states = !states.rows().empty();
  entry.symbol =
      Identifier(program.name) + "_" + Identifier(program.entry.Name());
  entry.inputs = program.BuffersOf(BufferKind::kInput);
  const std::vector<bool> read = ReadBuffers(program);
  std::erase_if(entry.inputs, [&](int input) { return !read[input]; });
  entry.outputs = program.BuffersOf(BufferKind::kOutput);
  int64_t scratch = 0;
  for (const StepCode& step : steps) {
    scratch = std::max(scratch, step.scratch_bytes);
  }
  entry.scratch_offset = AlignedBytes(program.arena_bytes());
  entry.arena_bytes = entry.scratch_offset + scratch;
  const FlatProgram flat = Flatten(program);
  for (const Buffer& buffer : flat.program.buffers) {
    entry.kinds.push_back(buffer.kind);
    int64_t offset = buffer.offset;
    if (buffer.kind == BufferKind::kConstant && buffer.alias_of < 0) {
      offset = static_cast<int64_t>(weights.Add(buffer));
    } else if (buffer.kind == BufferKind::kState) {
      offset = states.rows()[states.IndexOf(buffer)].offset;
    }
    entry.offsets.push_back(offset);
  }
  entry.calls = CallPlanner(flat, steps, code).Plan(0, steps.size());
  return entry;
}

std::vector<std::string> SymbolsOf(std::span<const EntryFunction> functions) {
  std::vector<std::string> symbols;
  for (const EntryFunction& function : functions) {
    symbols.push_back(function.symbol);
  }
  return symbols;
}

std::string Parameter(const Buffer& buffer, bool is_const,
                      ParameterNames& names) {
  return fmt::format(",\n    {}{}* {} /* {} */", is_const ? "const " : "",
                     CName(buffer.type.dtype), names.Take(buffer.name),
                     ToString(buffer.type));
}

std::string Declaration(const Program& program, const EntryFunction& entry) {
  const std::string macro = Upper(entry.symbol);
  std::string out =
      fmt::format("#define {}_ARENA_BYTES {}\n", macro, entry.arena_bytes);
  out +=
      fmt::format("int {}(\n    const void* weights,\n    void* arena{}",
                  entry.symbol, entry.has_states ? ",\n    void* states" : "");
  ParameterNames names({"weights", "arena", "states"});
  for (const int input : entry.inputs) {
    out += Parameter(program.buffers[input], true, names);
  }
  for (const int output : entry.outputs) {
    out += Parameter(program.buffers[output], false, names);
  }
  return out + ");\n\n";
}

// How the caller makes the state region, and what lies where in it.
std::string StateDeclarations(const std::string& name, const StateTable& states,
                              WeightsSection& weights) {
  if (states.rows().empty()) return "";
  std::string out = fmt::format(
      "/* What lives from run to run. `states` is memory of {0}_STATE_BYTES, "
      "aligned as\n"
      " * above; before the first run each state holds the `bytes` at "
      "`initial` "
      "of the\n"
      " * weights, or zeros where `initial` is -1. One run at a time uses "
      "it. */\n"
      "#define {0}_STATE_BYTES {1}\n"
      "#define {0}_STATE_COUNT {2}\n"
      "static const struct {{\n"
      "  const char* name;\n"
      "  int64_t offset, bytes, initial;\n"
      "}} {3}_states[{0}_STATE_COUNT] = {{\n",
      Upper(name), states.region_bytes(), states.rows().size(), name);
  for (const StateTable::Row& row : states.rows()) {
    out += fmt::format(
        "    {{\"{}\", {}, {}, {}}}, /* {} */\n", Quoted(row.buffer->name),
        row.offset, row.buffer->bytes(),
        row.initial != nullptr ? static_cast<int64_t>(weights.Add(*row.initial))
                               : -1,
        ToString(row.buffer->type));
  }
  return out + "};\n\n";
}

std::string MakeHeader(std::span<const Program> programs,
                       std::span<const EntryFunction> entries,
                       const Target& target, const std::string& states,
                       size_t weight_bytes) {
  const std::string name = Identifier(programs[0].name);
  std::string out = fmt::format(
      "/* {}: compiled for {}; needs {}.\n"
      " *\n"
      " * Each function computes one entry on the calling thread. It calls "
      "nothing and\n"
      " * keeps nothing, so it may run on several threads at once, each with "
      "an arena\n"
      " * of its own. `weights` are the bytes of the weights file, unchanged; "
      "`arena`\n"
      " * is memory of the stated size whose contents do not matter. Both are "
      "aligned\n"
      " * to {} bytes. Tensors are dense and row-major. Inputs that nothing "
      "reads are\n"
      " * no parameters. Returns 0.\n"
      " */\n"
      "#ifndef MXC_MODEL_{}_H_\n#define MXC_MODEL_{}_H_\n\n"
      "#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      programs[0].name, target.name,
      target.features.empty() ? "no particular CPU features"
                              : "the CPU features " + target.features,
      MXC_ARENA_ALIGNMENT, Upper(name), Upper(name));
  out +=
      fmt::format("#define {}_WEIGHT_BYTES {}\n#define {}_ALIGNMENT {}\n\n",
                  Upper(name), weight_bytes, Upper(name), MXC_ARENA_ALIGNMENT);
  out += states;
  for (size_t i = 0; i < programs.size(); ++i) {
    out += Declaration(programs[i], entries[i]);
  }
  return out + fmt::format(
                   "#ifdef __cplusplus\n}}\n#endif\n\n"
                   "#endif /* MXC_MODEL_{}_H_ */\n",
                   Upper(name));
}

// Nobody would find the functions, or the other devices, that an object asks
// for.
Status RequireNoImports(std::span<const Program> entries) {
  for (const Program& entry : entries) {
    const FlatProgram flat = Flatten(entry);
    for (const Step& step : flat.program.steps) {
      if (const Call* call = step.body.As<Call>()) {
        return Error(step.loc,
                     "step '{}' calls {}, which an object for C cannot import; "
                     "an artifact (.mxa) can",
                     step.name, call->function);
      }
      if (step.body.As<Collective>() == nullptr) continue;
      return Error(step.loc,
                   "step '{}' is one that several devices do together, which "
                   "an object for C cannot; an artifact (.mxa) can",
                   step.name);
    }
  }
  return Done{};
}

}  // namespace

Result<StandaloneObject> GenerateStandalone(std::span<const Program> entries,
                                            const Target& target,
                                            const CodegenOptions& options) {
  MXC_CHECK(!entries.empty());
  if (!target.runs_on_host()) {
    return Error({},
                 "target '{}' runs on a device, which an object for C cannot; "
                 "an artifact (.mxa) can",
                 target.name);
  }
  MXC_RETURN_IF_ERROR(RequireNoImports(entries));
  MXC_ASSIGN(const StateTable states, StateTable::Collect(entries));
  MXC_ASSIGN(CodeImage code, GenerateCode(entries, target, options));
  WeightsSection weights;
  std::vector<EntryFunction> functions;
  for (size_t i = 0; i < entries.size(); ++i) {
    functions.push_back(
        PlanEntry(entries[i], code.steps[i], code, states, weights));
  }
  const std::string declarations =
      StateDeclarations(Identifier(entries[0].name), states, weights);
  code.objects.push_back(EmitEntryFunctions(functions, target));
  StandaloneObject result;
  MXC_ASSIGN(const std::string linked,
             Link(code.objects, /*relocatable=*/true));
  result.object = HideSymbolsBut(SymbolsOf(functions), linked);
  result.weights.assign(reinterpret_cast<const char*>(weights.bytes().data()),
                        weights.bytes().size());
  result.header = MakeHeader(entries, functions, target, declarations,
                             weights.bytes().size());
  return result;
}

}  // namespace mxc
