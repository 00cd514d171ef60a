// SPDX-License-Identifier: Apache-2.0
#include "tools/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "codegen/codegen.h"
#include "codegen/web/web_module.h"
#include "runtime/artifact/container.h"
#include "tools/diagram/diagram.h"
#include "tools/diagram/graphviz.h"
#include "tools/driver/plan_text.h"
#include "tools/driver/temporary_file.h"
#include "tools/overview.h"
#include "tools/web/page_files.h"

namespace mxc {
namespace {

Status WriteText(const std::string& path, std::string_view bytes,
                 Outcome& outcome) {
  MXC_RETURN_IF_ERROR(outcome.texts.Add(path, bytes));
  outcome.files.push_back(path);
  return Done{};
}

Result<Artifact> GenerateVisibly(const ReportStyle& style,
                                 const CompileRequest& request,
                                 const Plan& plan) {
  WorkCount count;
  const Working working(style, "generate", &count);
  return Generate(request, plan, &count);
}

// Everything that is asked for beside the artifact, named after it.
Status EmitTexts(const EmitOptions& options, const CompileRequest& request,
                 const Plan& plan, const std::string& stem, Outcome& outcome) {
  if (options.Emits("ir")) {
    std::string text;
    for (const Program& program : plan.programs) text += Print(program);
    MXC_RETURN_IF_ERROR(WriteText(stem + ".ir", text, outcome));
  }
  if (options.Emits("dot")) {
    MXC_ASSIGN(const Model model, plan.network->Specialize(request.First()));
    MXC_RETURN_IF_ERROR(WriteText(
        stem + ".dot",
        GraphvizText(StepDiagram(
            MakeOverview(plan.programs.front(), plan.target, *plan.catalog),
            TextsOf(model.graph))),
        outcome));
  }
  return Done{};
}

Status EmitStandalone(const EmitOptions& options, const CompileRequest& request,
                      const Plan& plan, const std::string& stem,
                      Outcome& outcome) {
  if (!options.Emits("obj") && !options.Emits("header")) return Done{};
  MXC_ASSIGN(const StandaloneObject object,
             GenerateStandalone(plan.programs, plan.target,
                                {.cache = request.objects.get()}));
  if (options.Emits("obj")) {
    MXC_RETURN_IF_ERROR(WriteText(stem + ".o", object.object, outcome));
    MXC_RETURN_IF_ERROR(WriteText(stem + ".weights", object.weights, outcome));
  }
  if (options.Emits("header")) {
    MXC_RETURN_IF_ERROR(WriteText(stem + ".h", object.header, outcome));
  }
  return Done{};
}

// The image alone, as the artifact holds it.
Status ExtractImage(const std::string& artifact, const std::string& path,
                    Outcome& outcome) {
  auto container = runtime::Container::Open(artifact);
  if (!container.ok()) return UnplacedError(container.status().message());
  const runtime::Bytes code = container->section(MXC_SECTION_CODE);
  return WriteText(
      path, {reinterpret_cast<const char*>(code.data()), code.size()}, outcome);
}

Status EmitArtifact(const EmitOptions& options, const CompileRequest& request,
                    const Artifact& artifact, const std::string& stem,
                    Outcome& outcome) {
  const bool keep = options.Emits("mxa");
  std::optional<runtime::NamelessFile> nameless;
  if (!keep) {
    MXC_ASSIGN(nameless, MakeTemporaryFile());
  }
  const std::string path = keep ? options.output : nameless->path();
  {
    WorkCount count{.bytes = true};
    Working working(options.style, "write", &count);
    MXC_ASSIGN(outcome.sizes,
               Save(request, artifact, path, &count,
                    [&](const char* what) { working.Say(what); }));
  }
  if (keep) outcome.artifact = path;
  if (options.Emits("so")) {
    MXC_RETURN_IF_ERROR(ExtractImage(path, stem + ".so", outcome));
  }
  if (keep) outcome.files.push_back(path);
  return Done{};
}

void PrintGenerate(const EmitOptions& options, const CompileRequest& request,
                   const Artifact& artifact, int64_t code_bytes) {
  int64_t steps = 0;
  for (const Program& program : artifact.plan.programs) {
    steps += std::ssize(program.steps);
  }
  const std::string size =
      code_bytes > 0 ? FormatBytes(code_bytes) + " of code" : "code";
  PrintPhase(options.style, "generate",
             fmt::format("{}, {}, {} for {}", Count(steps, "step"),
                         DescribeKernels(artifact.code), size,
                         artifact.plan.target.name),
             artifact.generate_seconds);
  if (request.objects != nullptr) {
    const std::string problem = request.objects->problem();
    if (!problem.empty()) {
      PrintPhase(options.style, "note", "kernels not kept: " + problem);
    }
  }
}

// A folder of files that a browser opens.
Status EmitPage(const EmitOptions& options, const CompileRequest& request,
                const Plan& plan, Outcome& outcome) {
  if (!options.Emits("web")) return Done{};
  const Stopwatch watch;
  Result<WebModule> module = [&] {
    WorkCount count;
    const Working working(options.style, "generate", &count);
    return GenerateWebModule(plan.programs, plan.target,
                             {.cache = request.objects.get(), .count = &count},
                             RolesOf(plan));
  }();
  if (!module.ok()) return module.errors();
  outcome.kernels = module->kernels;
  outcome.sizes.code_bytes = std::ssize(module->wasm);
  outcome.sizes.weight_bytes = std::ssize(module->weights);
  for (const PageFile& file : PageFiles(*module, plan)) {
    outcome.sizes.file_bytes += std::ssize(file.bytes);
    MXC_RETURN_IF_ERROR(
        WriteText(options.output + "/" + file.name, file.bytes, outcome));
  }
  PrintPhase(
      options.style, "generate",
      fmt::format("{}, {} of code for {}", Count(module->kernels, "kernel"),
                  FormatBytes(outcome.sizes.code_bytes), plan.target.name),
      watch.seconds());
  outcome.phases.push_back({"generate", watch.seconds()});
  return Done{};
}

// The kinds of which not every target has one.
struct Form {
  const char *kind, *targets;
  bool (*has)(const Target& target);
};
constexpr Form kForms[] = {
    {"asm", "a processor", [](const Target& t) { return t.text == "asm"; }},
    {"ptx", "a GPU", [](const Target& t) { return t.text == "ptx"; }},
    {"web", "a page", [](const Target& t) { return t.runs_in_page(); }},
    {"mxa", "a processor or a GPU",
     [](const Target& t) { return !t.runs_in_page(); }}};
constexpr const char* kProcessorsAlone[] = {"obj", "header", "so"};

Status CheckForm(const EmitOptions& options, const Target& target,
                 const char* kind, const char* targets, bool has) {
  if (has || !options.Emits(kind)) return Done{};
  return UnplacedError(
      fmt::format("--emit {} is for targets of {}, not for '{}'", kind, targets,
                  target.name));
}

// What kernels are written as differs.
Status CheckForms(const EmitOptions& options, const Target& target) {
  for (const Form& form : kForms) {
    MXC_RETURN_IF_ERROR(
        CheckForm(options, target, form.kind, form.targets, form.has(target)));
  }
  const bool processor = target.text == "asm" && !target.runs_in_page();
  for (const char* kind : kProcessorsAlone) {
    MXC_RETURN_IF_ERROR(
        CheckForm(options, target, kind, "a processor", processor));
  }
  return Done{};
}

Status EmitNative(const EmitOptions& options, const CompileRequest& request,
                  const Plan& plan, const std::string& stem, Outcome& outcome) {
  const bool file = options.Emits("mxa") || options.Emits("so");
  if (!file && !request.keep_llvm && !request.keep_assembly) return Done{};
  MXC_ASSIGN(const Artifact artifact,
             GenerateVisibly(options.style, request, plan));
  outcome.kernels = std::ssize(artifact.code.kernels);
  outcome.cached = artifact.code.cached;
  if (request.keep_llvm) {
    MXC_RETURN_IF_ERROR(WriteText(stem + ".ll", artifact.code.llvm, outcome));
  }
  if (request.keep_assembly) {
    const char* extension = options.Emits("ptx") ? ".ptx" : ".s";
    MXC_RETURN_IF_ERROR(
        WriteText(stem + extension, artifact.code.assembly, outcome));
  }
  const Stopwatch write;
  if (file) {
    MXC_RETURN_IF_ERROR(
        EmitArtifact(options, request, artifact, stem, outcome));
  }
  PrintGenerate(options, request, artifact, outcome.sizes.code_bytes);
  outcome.phases.push_back({"generate", artifact.generate_seconds});
  outcome.phases.push_back({"write", write.seconds()});
  return Done{};
}

// OUT without the extension of a kind of file that we write.
std::string StemOf(const std::string& output) {
  for (const std::string_view extension :
       {".mxa", ".so", ".o", ".h", ".ll", ".s", ".ptx", ".dot", ".ir"}) {
    if (output.ends_with(extension)) {
      return output.substr(0, output.size() - extension.size());
    }
  }
  return output;
}

}  // namespace

std::string Outcome::WhatIsWritten() const {
  std::vector<std::string> written = texts.written();
  if (!artifact.empty()) written.push_back(artifact);
  if (written.empty()) return "nothing was written";
  return fmt::format("written: {}", fmt::join(written, ", "));
}

Status Emit(const EmitOptions& options, const CompileRequest& request,
            const Plan& plan, Outcome& outcome) {
  outcome.phases = {{"read", plan.read_seconds},
                    {"optimize", plan.optimize_seconds},
                    {"plan", plan.plan_seconds}};
  const std::string stem = StemOf(options.output);
  MXC_RETURN_IF_ERROR(CheckForms(options, plan.target));
  MXC_RETURN_IF_ERROR(EmitTexts(options, request, plan, stem, outcome));
  MXC_RETURN_IF_ERROR(EmitStandalone(options, request, plan, stem, outcome));
  MXC_RETURN_IF_ERROR(EmitPage(options, request, plan, outcome));
  MXC_RETURN_IF_ERROR(EmitNative(options, request, plan, stem, outcome));
  return outcome.texts.Commit();
}

}  // namespace mxc
