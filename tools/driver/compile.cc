// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/compile.h"

#include <fmt/format.h>

#include <future>
#include <string_view>
#include <thread>
#include <utility>

#include "ir/program/call_function.h"
#include "ir/program/steps/call.h"
#include "runtime/executor/model.h"
#include "runtime/library/registry.h"
#include "tools/driver/figures.h"
#include "tools/driver/golden.h"
#include "tools/driver/manifest.h"
#include "tools/driver/symbol_text.h"
#include "tools/driver/temporary_file.h"
#include "tools/driver/unplaced_error.h"
#include "tools/signature/digest.h"

namespace mxc {
namespace {

namespace rt = runtime;

rt::Bytes SectionBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The weights, which may be large, are read where they are.
Result<std::vector<std::string>> RunSections(const ArtifactSections& sections) {
  MXC_ASSIGN(const runtime::NamelessFile file, MakeTemporaryFile());
  const ArtifactSections bare = {.code = sections.code,
                                 .tables = sections.tables,
                                 .device = sections.device,
                                 .weights = {}};
  MXC_RETURN_IF_ERROR(WriteArtifact(file.path(), bare, {}, ""));
  rt::OpenOptions open;
  open.weights = sections.weights;
  const auto model = rt::Model::Open(file.path(), open);
  if (!model.ok()) return UnplacedError(model.status().message());
  return GoldenLines(*model);
}

// What is wrong where a step calls a user's function that is not loaded here.
Status RequireFunctions(std::span<const Program> programs) {
  for (const Program& program : programs) {
    for (const Step& step : program.steps) {
      const Call* call = step.body.As<Call>();
      if (call == nullptr) continue;
      if (FindCallFunction(call->function, call->version)) continue;
      const auto function = rt::FindFunction(
          call->function, static_cast<uint32_t>(call->version));
      if (!function.ok()) {
        return UnplacedError(fmt::format("step '{}' {}", step.name,
                                         function.status().message()));
      }
    }
  }
  return Done{};
}

Result<std::vector<std::string>> LinesOf(const CompileRequest& request,
                                         const ArtifactSections& sections,
                                         std::span<const Program> entries) {
  const Status functions = RequireFunctions(entries);
  if (!functions.ok()) {
    if (request.golden == Golden::kOn) return functions.errors();
    return std::vector<std::string>(entries.size(),
                                    "none (a function it calls was not there)");
  }
  return RunSections(sections);
}

Status AddGolden(const CompileRequest& request,
                 const ArtifactSections& sections,
                 std::span<const Program> entries, Manifest& manifest) {
  Result<std::vector<std::string>> lines = LinesOf(request, sections, entries);
  // Values that nobody chose may be no matrix that a step can decompose.
  if (!lines.ok() && request.golden == Golden::kAuto) {
    lines = std::vector<std::string>(
        entries.size(),
        fmt::format("none ({})", lines.errors().front().message));
  }
  if (!lines.ok()) {
    Diagnostics errors = lines.errors();
    for (Diagnostic& error : errors) {
      error.message =
          "the golden digest cannot be computed here: " + error.message +
          "; --golden off leaves it out";
    }
    return errors;
  }
  for (std::string& line : *lines) {
    manifest.emplace_back("golden", std::move(line));
  }
  return Done{};
}

// The weights' takes longest: it is computed beside the golden digests.
Status AddDigests(const ArtifactSections& sections, const std::string& symbol,
                  std::future<rt::StatusOr<signature::Digest>> weights,
                  Manifest& manifest) {
  const auto add =
      [&](const char* key,
          const rt::StatusOr<signature::Digest>& digest) -> Status {
    if (!digest.ok()) return UnplacedError(digest.status().message());
    manifest.emplace_back(key, signature::Hex(*digest));
    return Done{};
  };
  MXC_RETURN_IF_ERROR(
      add("sha256_code", signature::DigestOf(SectionBytes(sections.code))));
  MXC_RETURN_IF_ERROR(add("sha256_weights", weights.get()));
  MXC_RETURN_IF_ERROR(
      add("sha256_tables", signature::DigestOf(SectionBytes(sections.tables))));
  if (!sections.device.empty()) {
    MXC_RETURN_IF_ERROR(add(
        "sha256_device", signature::DigestOf(SectionBytes(sections.device))));
  }
  return add("sha256_symbol", signature::DigestOf(SectionBytes(symbol)));
}

Golden Resolved(const CompileRequest& request) {
  if (request.golden != Golden::kAuto) return request.golden;
  return request.target == "native" ? Golden::kOn : Golden::kOff;
}

}  // namespace

TensorRoles RolesOf(const Plan& plan) {
  return {.data = plan.data_inputs,
          .labels = plan.label_inputs,
          .parameters = plan.parameter_names,
          .auxiliaries = plan.auxiliary_names,
          .carries = plan.carries};
}

Result<Artifact> Generate(const CompileRequest& request, Plan plan,
                          WorkCount* count) {
  const Stopwatch watch;
  Artifact artifact;
  artifact.entries = plan.programs;
  if (request.transform_at_load) {
    auto preparation = MakePreparation(artifact.entries);
    if (preparation) artifact.entries.push_back(std::move(*preparation));
  }
  CodegenOptions codegen;
  codegen.threads = static_cast<int>(std::thread::hardware_concurrency());
  codegen.cache = request.objects.get();
  if (!request.assembler.empty()) {
    codegen.options["assembler"] = request.assembler;
  }
  codegen.keep_llvm = request.keep_llvm;
  codegen.keep_assembly = request.keep_assembly;
  codegen.count = count;
  codegen.catalog = plan.catalog.get();
  MXC_ASSIGN(artifact.code,
             GenerateCode(artifact.entries, plan.target, codegen));
  artifact.plan = std::move(plan);
  artifact.generate_seconds = watch.seconds();
  return artifact;
}

Result<Artifact> Compile(const CompileRequest& request, Progress& progress) {
  MXC_ASSIGN(Plan plan, MakePlan(request, progress));
  return Generate(request, std::move(plan));
}

Result<ArtifactSizes> Save(const CompileRequest& request,
                           const Artifact& artifact, const std::string& path,
                           WorkCount* count,
                           const std::function<void(const char*)>& stage) {
  const auto begin = [&](const char* what) {
    if (stage) stage(what);
  };
  const Plan& plan = artifact.plan;
  begin("laying out the weights");
  MXC_ASSIGN(const std::string symbol, SymbolText(request, plan));
  MXC_ASSIGN(const ArtifactSections sections,
             MakeSections(artifact.entries, artifact.code, plan.target,
                          RolesOf(plan)));
  auto weights = std::async(std::launch::async, [&] {
    return signature::DigestOf(sections.weights);
  });
  Manifest manifest = MakeManifest(request, plan);
  if (Resolved(request) == Golden::kOn) {
    begin("running it once");
    MXC_RETURN_IF_ERROR(
        AddGolden(request, sections, artifact.entries, manifest));
  }
  begin("digests");
  MXC_RETURN_IF_ERROR(
      AddDigests(sections, symbol, std::move(weights), manifest));
  begin("");
  return WriteArtifact(path, sections, manifest, symbol, count);
}

}  // namespace mxc
