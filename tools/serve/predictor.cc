// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/predictor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "runtime/artifact/manifest.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/nameless_file.h"
#include "tools/run/answer.h"
#include "tools/run/failure.h"
#include "tools/run/sample_batches.h"

namespace mxc::serve {
namespace {

// The body as a file, which is what inputs are read from.
runtime::NamelessFile FileOf(std::string_view body) {
  auto file = run::Take(runtime::NamelessFile::Create());
  runtime::FileWriter out(file.path());
  out.Append(std::as_bytes(std::span(body)));
  run::Require(out.Commit(runtime::FileWriter::Sync::kNo));
  return file;
}

// "the body", or "part 'data'".
std::string NameOf(const Predictor::Part& part) {
  return part.input.empty() ? "the body" : "part '" + part.input + "'";
}

// What is wrong with the files, as the sender knows them.
run::Failure AboutParts(const run::Failure& failure,
                        const std::vector<Predictor::Part>& parts,
                        const std::vector<run::InputFile>& files) {
  std::vector<std::string> messages = failure.messages();
  for (std::string& message : messages) {
    for (size_t k = 0; k < parts.size(); ++k) {
      const std::string name = NameOf(parts[k]);
      for (const std::string& path :
           {"'" + files[k].file + "'", files[k].file}) {
        for (size_t at; (at = message.find(path)) != std::string::npos;) {
          message.replace(at, path.size(), name);
        }
      }
    }
  }
  return run::Failure(std::move(messages));
}

Json TensorJson(const mxc_tensor& tensor) {
  return {{"name", tensor.name},
          {"dtype", mxc_dtype_name(tensor.dtype)},
          {"shape", api::Shape(tensor)}};
}

// This thread's own.
api::Executor& ExecutorOf(const run::Session& session, size_t entry) {
  thread_local std::map<size_t, api::Executor> executors;
  const auto known = executors.find(entry);
  if (known != executors.end()) return known->second;
  return executors.emplace(entry, session.BindTo(entry, /*profile=*/false))
      .first->second;
}

std::vector<run::OutputValues> Compute(const run::Session& session,
                                       const run::Feed& feed) {
  const api::Model& model = session.model;
  size_t entry = run::ChooseBatch(model, session.entry, feed);
  auto batches = run::SampleBatches::Of(model, entry, feed);
  if (batches) {
    entry = run::EntryFor(model, entry, batches->samples());
    batches = run::SampleBatches::Of(model, entry, feed);
  }
  const auto outputs = model.outputs(entry);
  api::Executor& executor = ExecutorOf(session, entry);
  if (batches) return batches->Run(executor, outputs);
  run::FillInputs(executor, run::InputsOf(model, entry), feed);
  executor.Run();
  return run::Results(executor, outputs);
}

Json AnswerOf(const std::vector<run::OutputValues>& results, int top,
              const std::vector<std::string>& labels) {
  if (top > 0) return {{"top", run::Top(results.at(0), top, labels)}};
  Json outputs = run::DescribeOutputs(results);
  for (size_t k = 0; k < results.size(); ++k) {
    outputs[k]["values"] = run::Floats(results[k].array);
  }
  return {{"outputs", std::move(outputs)}};
}

}  // namespace

Predictor::Predictor(run::Session session, run::PictureOptions pictures)
    : session_(std::move(session)), labels_(session_.LabelNames()) {
  feed_.pictures = std::move(pictures);
  feed_.pictures.trained = session_.Preprocessing();
}

Json Predictor::Describe() const {
  const auto network =
      runtime::ManifestValues(session_.model.manifest(), "network");
  Json inputs = Json::array(), outputs = Json::array();
  for (const run::NetworkInput& input : session_.Inputs()) {
    if (input.read) inputs.push_back(TensorJson(input));
  }
  for (const mxc_tensor& output : session_.model.outputs(session_.entry)) {
    outputs.push_back(TensorJson(output));
  }
  return {{"network", network.empty() ? "" : network.front()},
          {"inputs", inputs},
          {"outputs", outputs},
          {"classes", labels_}};
}

void Predictor::RequireParts(const std::vector<Part>& parts) const {
  std::vector<std::string> names;
  for (const run::NetworkInput& input : session_.Inputs()) {
    if (input.read) names.emplace_back(input.name);
  }
  bool complete = true;
  for (const std::string& name : names) {
    complete &= std::ranges::count(parts, name, &Part::input) > 0;
  }
  for (const Part& part : parts) {
    if (part.content.empty()) throw run::Failure(NameOf(part) + " is empty");
  }
  if (complete || names.size() < 2) return;
  std::string list, example = "curl";
  for (const std::string& name : names) {
    list += (list.empty() ? "'" : ", '") + name + "'";
    example += " -F " + name + "=@" + name + ".npy";
  }
  throw run::Failure("the network reads several inputs, " + list +
                     ": send a multipart/form-data with a part for each, as "
                     "in: " +
                     example);
}

Json Predictor::Predict(const std::vector<Part>& parts, int top) {
  RequireParts(parts);
  std::vector<runtime::NamelessFile> kept;
  run::Feed feed = feed_;
  for (const Part& part : parts) {
    kept.push_back(FileOf(part.content));
    feed.files.push_back({part.input, kept.back().path()});
  }
  try {
    return AnswerOf(Compute(session_, feed), top, labels_);
  } catch (const run::Failure& failure) {
    throw AboutParts(failure, parts, feed.files);
  }
}

}  // namespace mxc::serve
