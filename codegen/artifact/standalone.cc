// SPDX-License-Identifier: Apache-2.0
// --emit=obj,header: each entry as one C function without a runtime.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/artifact/c_names.h"
#include "codegen/artifact/entry_plan.h"
#include "codegen/artifact/states.h"
#include "codegen/artifact/weights.h"
#include "codegen/codegen.h"
#include "codegen/llvm/entry_function.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/object_symbols.h"
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
  MXC_RETURN_IF_ERROR(RequireNoImports(entries, "an object for C"));
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
