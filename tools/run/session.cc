// SPDX-License-Identifier: Apache-2.0
#include "tools/run/session.h"

#include "runtime/artifact/manifest.h"
#include "runtime/base/clock.h"
#include "runtime/data/label_names.h"
#include "runtime/device/device.h"
#include "runtime/formats/convert.h"
#include "tools/run/failure.h"
#include "tools/run/subcommand.h"
#include "tools/usage/functions_option.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

// A runtime::Approval as the C API asks for it.
struct Approver {
  runtime::Approval approve;
  std::string refusal = {};

  static const char* Ask(void* self, const void* file, size_t size) {
    auto& approver = *static_cast<Approver*>(self);
    const runtime::Status status =
        approver.approve({static_cast<const std::byte*>(file), size});
    if (status.ok()) return nullptr;
    approver.refusal = status.message();
    return approver.refusal.c_str();
  }
};

const char* NameOrNull(const std::string& device) {
  return device.empty() ? nullptr : device.c_str();
}

mxc_model_options ModelOptions(const SessionOptions& options,
                               Approver& approver) {
  if (const auto device = runtime::FindDevice(NameOrNull(options.device));
      !device.ok()) {
    throw Failure(device.status().message());
  }
  return {
      .struct_size = sizeof(mxc_model_options),
      .weights = options.weights == "copy" ? MXC_WEIGHTS_COPY : MXC_WEIGHTS_MAP,
      .check_weights = options.check_weights,
      .approve = approver.approve ? Approver::Ask : nullptr,
      .approve_context = &approver};
}

}  // namespace

void DeclareSession(CLI::App& app, SessionOptions& options) {
  app.option_defaults()->group("Execution");
  app.add_option("ARTIFACT", options.artifact,
                 "the compiled network (.mxa); while it is open, replace it by "
                 "renaming, never in place")
      ->required();
  app.add_option("--entry", options.entry,
                 "which entry of the artifact (default: infer)");
  app.add_option("--batch", options.batch, "which of the compiled batch sizes")
      ->check(AtLeast(0));
  app.add_option("--threads", options.threads,
                 "how many (default: one for each processor)")
      ->check(Between(0, 512));
  app.add_option("--weights", options.weights,
                 "map: used where the file's pages are mapped; copy: read "
                 "into huge pages")
      ->check(OneOf({"map", "copy"}))
      ->capture_default_str();
  DeclareDevice(app, options.device);
  DeclareFunctions(app);
  options.requirement.Declare(app);
}

void DeclareDevice(CLI::App& app, std::string& device) {
  app.add_option("--device", device,
                 "where the network runs: cpu, cuda:1 (default: what it was "
                 "compiled for)");
}

void DeclareDevices(CLI::App& app, std::string& devices) {
  app.add_option("--device", devices,
                 "where the network runs: cpu, cuda:1 (default: what it was "
                 "compiled for); cuda:0,cuda:1 train together, each on its "
                 "part of a batch");
}

void DeclareCheck(CLI::App& app, bool& check) {
  check = true;
  app.add_flag_callback(
      "--no-check", [&check] { check = false; },
      "do not compare the weights with their checksum");
}

std::vector<NetworkInput> InputsOf(const api::Model& model, size_t entry) {
  std::vector<NetworkInput> inputs;
  size_t index = 0;
  for (const mxc_tensor& tensor : model.inputs(entry)) {
    const size_t k = index++;
    if (tensor.use == MXC_USE_LENGTH) continue;
    inputs.push_back({tensor, model.reads_input(entry, k), k,
                      model.LengthsOfInput(entry, k)});
  }
  return inputs;
}

Session OpenSession(const std::string& artifact,
                    const SessionOptions& options) {
  const int64_t begin = runtime::Nanoseconds();
  Approver approver{Take(options.requirement.Approval())};
  api::Model model(artifact, ModelOptions(options, approver));
  const int64_t end = runtime::Nanoseconds();
  const size_t entry = model.FindEntry(
      options.entry.empty() ? nullptr : options.entry.c_str(), options.batch);
  return {.model = std::move(model),
          .entry = entry,
          .named = !options.entry.empty(),
          .threads = options.threads,
          .device = options.device,
          .open_seconds = runtime::SecondsOf(end - begin)};
}

api::Executor Session::BindTo(size_t which, bool profile,
                              const api::Executor* share) const {
  const mxc_entry_summary summary = model.entry(which);
  return api::Executor(model,
                       {.struct_size = sizeof(mxc_bind_options),
                        .entry = summary.name,
                        .batch = summary.batch,
                        .threads = threads,
                        .profile = profile,
                        .share = share != nullptr ? share->handle() : nullptr,
                        .device = NameOrNull(device),
                        .team = nullptr,
                        .stream = nullptr});
}

std::vector<std::string> Session::LabelNames() const {
  const auto lines = runtime::ManifestValues(model.manifest(), "label_names");
  if (lines.empty()) return {};
  return Take(data::ParseLabelNames(lines.front()));
}

std::vector<float> OutputAsFloats(const api::Executor& executor,
                                  const mxc_tensor& tensor, size_t index) {
  const auto output = executor.Output(index);
  std::vector<float> values(output.size() / mxc_dtype_size(tensor.dtype));
  runtime::ConvertElements(TypeOf(tensor), output.span(),
                           runtime::ElementType::kF32,
                           std::as_writable_bytes(std::span(values)));
  return values;
}

std::optional<data::Preprocessing> Session::Preprocessing() const {
  const auto lines = runtime::ManifestValues(model.manifest(), "preprocess");
  if (lines.empty()) return std::nullopt;
  return Take(data::ParsePreprocessing(lines.front()));
}

std::string DescribeShape(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + ")";
}

std::string Describe(const mxc_tensor& tensor) {
  const auto shape = api::Shape(tensor);
  return std::string(mxc_dtype_name(tensor.dtype)) + " " +
         DescribeShape({shape.begin(), shape.end()});
}

}  // namespace mxc::run
