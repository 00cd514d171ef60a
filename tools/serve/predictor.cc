// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/predictor.h"

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
runtime::NamelessFile FileOf(const std::string& body) {
  auto file = run::Take(runtime::NamelessFile::Create());
  runtime::FileWriter out(file.path());
  out.Append(body);
  run::Require(out.Commit(runtime::FileWriter::Sync::kNo));
  return file;
}

// What is wrong with the file, as the sender knows it.
run::Failure AboutBody(const run::Failure& failure, const std::string& path) {
  std::vector<std::string> messages = failure.messages();
  for (std::string& message : messages) {
    for (size_t at; (at = message.find(path)) != std::string::npos;) {
      message.replace(at, path.size(), "the body");
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

Json Predictor::Predict(const std::string& body, int top) {
  if (body.empty()) throw run::Failure("the body is empty");
  const runtime::NamelessFile file = FileOf(body);
  run::Feed feed = feed_;
  feed.files = {{"", file.path()}};
  try {
    return AnswerOf(Compute(session_, feed), top, labels_);
  } catch (const run::Failure& failure) {
    throw AboutBody(failure, file.path());
  }
}

}  // namespace mxc::serve
