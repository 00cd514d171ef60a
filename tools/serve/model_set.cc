// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/model_set.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tools/run/failure.h"
#include "tools/run/feed.h"

namespace mxc::serve {

ModelSet::ModelSet(const ServeOptions& options)
    : options_(options), models_(Open()) {}

std::vector<std::shared_ptr<Predictor>> ModelSet::Open() const {
  std::vector<run::InputFile> files = {{"", options_.session.artifact}};
  for (const std::string& text : options_.models) {
    files.push_back(run::ParseInput(text));
  }
  std::vector<std::shared_ptr<Predictor>> models;
  for (auto& [name, file] : files) {
    if (name.empty()) name = std::filesystem::path(file).stem();
    if (name.find('/') != name.npos) {
      throw run::Failure("--model: '" + name +
                         "' is no name in /models/NAME/predict: it has a '/'");
    }
    if (std::ranges::any_of(models,
                            [&](const auto& m) { return m->name() == name; })) {
      throw run::Failure("two networks are named '" + name +
                         "': --model NAME=FILE");
    }
    models.push_back(std::make_shared<Predictor>(
        name, run::OpenSession(file, options_.session), options_.pictures));
  }
  return models;
}

void ModelSet::Reload() {
  auto models = Open();
  const std::lock_guard lock(mutex_);
  models_.swap(models);
}

std::shared_ptr<Predictor> ModelSet::Find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      models_, [&](const auto& model) { return model->name() == name; });
  return found == models_.end() ? nullptr : *found;
}

std::shared_ptr<Predictor> ModelSet::first() const {
  const std::lock_guard lock(mutex_);
  return models_.front();
}

std::vector<std::string> ModelSet::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& model : models_) names.push_back(model->name());
  return names;
}

}  // namespace mxc::serve
