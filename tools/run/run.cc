// SPDX-License-Identifier: Apache-2.0
// mxc-run run: one inference on given inputs.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/destination.h"
#include "runtime/base/visible.h"
#include "runtime/data/picture/picture.h"
#include "runtime/formats/npy.h"
#include "tools/run/answer.h"
#include "tools/run/failure.h"
#include "tools/run/feed.h"
#include "tools/run/input_file.h"
#include "tools/run/label_file.h"
#include "tools/run/non_finite_input.h"
#include "tools/run/output.h"
#include "tools/run/sample_batches.h"
#include "tools/run/session.h"
#include "tools/run/subcommand.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTopOfLabels = 5;

struct RunOptions {
  SessionOptions session;
  Feed feed;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  // "name=file" or "index=file"
  std::string output_folder;
  int top = 0;
  std::string labels;
};

// An output by its name or its index.
size_t OutputIndex(const api::Executor& executor, const std::string& name,
                   size_t count) {
  if (!name.empty() && name.size() < 6 &&
      name.find_first_not_of("0123456789") == std::string::npos &&
      std::stoul(name) < count) {
    return std::stoul(name);
  }
  return executor.FindOutput(name.empty() ? nullptr : name.c_str());
}

// Where each --output goes, checked before anything runs.
std::vector<std::pair<size_t, std::string>> OutputFiles(
    const RunOptions& options, const api::Executor& executor, size_t count) {
  std::vector<std::pair<size_t, std::string>> files;
  std::vector<std::string> read = {options.session.artifact, options.labels};
  for (const InputFile& input : options.feed.files) read.push_back(input.file);
  for (const std::string& text : options.outputs) {
    const auto [name, file] = ParseInput(text);
    Require(runtime::RequireWritable(file, read, ".npy"));
    files.emplace_back(OutputIndex(executor, name, count), file);
  }
  if (options.output_folder.empty()) return files;
  std::error_code error;
  std::filesystem::create_directories(options.output_folder, error);
  if (error) {
    throw Failure("cannot create '" + options.output_folder +
                  "': " + error.message());
  }
  for (size_t k = 0; k < count; ++k) {
    files.emplace_back(
        k, options.output_folder + "/output_" + std::to_string(k) + ".npy");
    Require(runtime::RequireWritable(files.back().second, read, ".npy"));
  }
  return files;
}

// The file's lines; without one what the model knows.
std::vector<std::string> ReadLabels(const std::string& path,
                                    const Session& session) {
  return path.empty() ? session.LabelNames() : Take(ReadLabelFile(path));
}

// `files` are the samples' where each has one of its own.
void PrintTop(const Json& rows, const std::vector<InputFile>& files) {
  for (size_t n = 0; n < rows.size(); ++n) {
    const bool named = files.size() == rows.size();
    if (rows.size() > 1) {
      PrintOut("sample %zu%s\n", n,
               named ? ("  " + runtime::Visible(files[n].file)).c_str() : "");
    }
    for (const Json& best : rows[n]) {
      const auto label = best["label"].get<std::string>();
      const auto index = best["index"].get<size_t>();
      // Classes that are called by their numbers are named once.
      const bool named_so = label.empty() || label == std::to_string(index);
      PrintOut("%12.6g  %5zu%s\n", best["value"].get<double>(), index,
               named_so ? "" : ("  " + runtime::Visible(label)).c_str());
    }
  }
}

// "prob  float32 (1, 1000)   from 1.2e-05 to 0.83, mean 0.001"
void PrintOutputs(const std::vector<OutputValues>& outputs) {
  for (const auto& [name, array] : outputs) {
    PrintOut("%s  %s", runtime::Visible(name).c_str(), Describe(array).c_str());
    const std::vector<float> values = Floats(array);
    if (IsFloat(array.type) && !values.empty()) {
      const auto [low, high] =
          std::minmax_element(values.begin(), values.end());
      double sum = 0;
      for (const float value : values) sum += value;
      PrintOut("   from %g to %g, mean %g", *low, *high,
               sum / static_cast<double>(values.size()));
    }
    PrintOut("\n");
  }
}

void WarnOfOtherNames(const std::vector<std::string>& labels,
                      std::span<const mxc_tensor> outputs,
                      Reporting& reporting) {
  const auto shape = outputs.empty() ? std::span<const int64_t>()
                                     : api::Shape(outputs.front());
  if (shape.empty() || shape.back() == std::ssize(labels)) return;
  Warn(reporting,
       OtherNames(labels.size(), outputs.front().name, shape.back()));
}

// Each of them says whether it did.
bool WarnOfNonFinite(std::string_view input, runtime::ElementType type,
                     runtime::Bytes values, std::span<const int64_t> shape,
                     Reporting& reporting) {
  const auto sentence = DescribeNonFinite(input, type, values, shape);
  if (sentence) Warn(reporting, *sentence);
  return sentence.has_value();
}

bool WarnOfInputs(api::Executor& executor, std::span<const NetworkInput> inputs,
                  Reporting& reporting) {
  bool warned = false;
  for (const NetworkInput& input : inputs) {
    if (!input.read) continue;
    warned |= WarnOfNonFinite(input.name, TypeOf(input),
                              executor.MapInput(input.name).span(),
                              api::Shape(input), reporting);
  }
  return warned;
}

bool WarnOfSamples(const SampleBatches& batches, Reporting& reporting) {
  const runtime::Array* array = batches.array();
  return array != nullptr &&
         WarnOfNonFinite(batches.input().name, array->type, array->bytes(),
                         array->shape, reporting);
}

// Returns what is done as in training, in words; empty where nothing is, and
// where nothing is known of training.
std::string SayWhatPicturesBecome(std::span<const NetworkInput> inputs,
                                  const Feed& feed, Reporting& reporting) {
  const std::string given = GivenOption(feed.pictures);
  const PictureKinds kinds = KindsOf(inputs, feed);
  if (!kinds.files && feed.pictures.orientation) {
    throw Failure(
        "--orientation is for JPEG and PNG: nothing says how an array was "
        "held");
  }
  if (!kinds.files && !kinds.arrays && !given.empty()) {
    throw Failure(given + " is for pictures, and no input is one");
  }
  if (!kinds.files && !feed.pictures.resize.empty()) {
    throw Failure(
        "--resize is for JPEG and PNG: an array has the input's size");
  }
  const std::string doubt = DoubtsOf(kinds, feed.pictures);
  if (!doubt.empty()) Warn(reporting, doubt);
  if (!kinds.files && !kinds.arrays) return "";
  const std::string trained = DescribeTrained(feed.pictures, !kinds.files);
  if (!trained.empty()) {
    PrintErr("%s as in training: %s\n", kinds.files ? "pictures" : "pixels",
             runtime::Visible(trained).c_str());
  }
  return trained;
}

void Run(RunOptions& options, Reporting& reporting) {
  Session session = OpenSession(options.session.artifact, options.session);
  options.feed.pictures.trained = session.Preprocessing();
  if (options.session.batch == 0 && session.model.entry_count() > 1) {
    session.entry = ChooseEntry(session, options.feed);
  }
  std::optional<SampleBatches> batches =
      SampleBatches::Of(session.model, session.entry, options.feed);
  if (batches && options.session.batch == 0) {
    session.entry = EntryFor(session.model, session.entry, batches->samples());
    batches = SampleBatches::Of(session.model, session.entry, options.feed);
  }
  const auto inputs = session.Inputs();
  const auto outputs = session.model.outputs(session.entry);
  const std::vector<std::string> labels = ReadLabels(options.labels, session);
  if (!options.labels.empty() && options.top == 0) options.top = kTopOfLabels;
  if (!options.labels.empty()) WarnOfOtherNames(labels, outputs, reporting);
  api::Executor executor = session.Bind(/*profile=*/false);
  const auto files = OutputFiles(options, executor, outputs.size());
  if (!batches) {
    FillInputs(executor, session.model.Lengths(session.entry), inputs,
               options.feed);
  }
  const bool warned = batches ? WarnOfSamples(*batches, reporting)
                              : WarnOfInputs(executor, inputs, reporting);
  const std::string trained =
      SayWhatPicturesBecome(inputs, options.feed, reporting);
  const int64_t begin = runtime::Nanoseconds();
  std::vector<OutputValues> results;
  if (batches) {
    results = batches->Run(executor, outputs);
  } else {
    executor.Run();
  }
  const double seconds = runtime::SecondsOf(runtime::Nanoseconds() - begin);
  if (!batches) results = Results(executor, outputs);
  const auto doubt = warned ? std::nullopt : DescribeNonFinite(results);
  if (doubt) Warn(reporting, *doubt);
  for (const auto& [index, path] : files) {
    Require(runtime::WriteNpy(path, results[index].array));
  }
  Json report = {{"outputs", DescribeOutputs(results)},
                 {"seconds", seconds},
                 {"open_seconds", session.open_seconds},
                 {"threads", executor.threads()},
                 {"warnings", reporting.warnings}};
  if (!trained.empty()) report["pictures"] = trained;
  if (options.top > 0 && !results.empty()) {
    report["top"] = Top(results[0], options.top, labels);
  }
  if (reporting.json) {
    PrintJson(report);
  } else if (report.contains("top")) {
    PrintTop(report["top"], options.feed.files);
  } else {
    PrintOutputs(results);
  }
}

}  // namespace

Command AddRun(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<RunOptions>();
  DeclareSession(app, options->session);
  DeclareCheck(app, options->session.check_weights);
  app.option_defaults()->group("Inputs and outputs");
  app.add_option(
         "--input", options->inputs,
         "NAME=FILE, or FILE where one input is read: .npy, JPEG or "
         "PNG; FILE may be a pipe, - (standard input), or a folder: its "
         "pictures in the order of their names. Any number of samples runs, in "
         "batches of the "
         "compiled size; an array of another type is converted")
      ->type_size(1)
      ->allow_extra_args(false);
  DeclarePictures(app, options->feed.pictures);
  app.option_defaults()->group("Inputs and outputs");
  app.add_option("--output", options->outputs,
                 "NAME=FILE.npy or INDEX=FILE.npy: where to write an output")
      ->type_size(1)
      ->allow_extra_args(false);
  app.add_option("--output-dir", options->output_folder,
                 "write every output as output_<k>.npy");
  app.add_option("--top", options->top, "print the N best classes")
      ->check(AtLeast(1));
  app.add_option("--labels", options->labels,
                 "names of the classes, one a line (default: the artifact's); "
                 "without --top, of the 5 best");
  app.add_flag("--json", reporting.json, "report as JSON on stdout");
  app.footer(
      Footer("  mxc run net.mxa --input photo.jpg --top 5\n"
             "  mxc run net.mxa --input photos --top 1 --json\n"
             "  cat photo.jpg | mxc run net.mxa --input - --top 5\n"
             "  mxc run net.mxa --input data=x.npy --output prob=y.npy\n"));
  return [options, &reporting] {
    for (const std::string& text : options->inputs) {
      for (InputFile& file : FilesOf(ParseInput(text))) {
        options->feed.files.push_back(std::move(file));
      }
    }
    Run(*options, reporting);
  };
}

}  // namespace mxc::run
