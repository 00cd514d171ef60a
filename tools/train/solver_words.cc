// SPDX-License-Identifier: Apache-2.0
#include "tools/train/solver_words.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "frontend/caffe/solver.h"
#include "frontend/network_source.h"
#include "runtime/train/caffe_snapshot.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

bool IsList(const std::string& name) {
  return name == "--opt" || name == "--data-opt" || name == "--val-opt";
}

// "--lr", and of a list "--opt momentum".
std::string KeyOf(const std::string& name, const std::string& value) {
  return IsList(name) ? name + " " + value.substr(0, value.find('=')) : name;
}

// The user's words, and what of the solver's they take the place of.
class Said {
 public:
  explicit Said(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      const std::string name = option->get_name();
      if (name == "MODEL" || option->count() == 0) continue;
      names_.insert(name);
      if (option->get_expected_max() == 0) {
        words_.push_back(name);
        continue;
      }
      for (const std::string& value : option->results()) {
        keys_.insert(KeyOf(name, value));
        if (name == "--optimizer") optimizer_ = value;
        words_.push_back(name);
        words_.push_back(value);
      }
    }
  }

  const std::vector<std::string>& words() const { return words_; }

  bool Replaces(const std::string& name, const std::string& value) const {
    const std::string key = KeyOf(name, value);
    if (IsList(name) ? keys_.contains(key) : names_.contains(name)) return true;
    if (name == "--opt")
      return names_.contains("--optimizer") && !Is(key, "wd");
    if (name == "--data-opt") {
      return names_.contains("--data") && !Is(key, "epoch_batches");
    }
    if (name == "--val-opt") {
      return names_.contains("--val") && !Is(key, "epoch_batches");
    }
    if (name == "--params") return names_.contains("--epoch");
    if (name == "--save-caffe") return !KnownToCaffe();
    return false;
  }

 private:
  // Returns whether the item of a list is the one of that name, for any source
  // or optimizer.
  static bool Is(const std::string& key, const char* name) {
    return key.ends_with(std::string(" ") + name);
  }

  // Returns whether .solverstate has a place for what the optimizer keeps.
  bool KnownToCaffe() const {
    return optimizer_.empty() || optimizer_ == "sgd" || optimizer_ == "adam" ||
           optimizer_ == "caffe";
  }

  std::vector<std::string> words_;
  std::set<std::string> names_, keys_;
  std::string optimizer_;  // empty: the solver's
};

}  // namespace

bool IsSolverFile(const std::string& path) {
  const auto file = NetworkSource::Open(path);
  return file.ok() && caffe::IsSolver(**file);
}

Result<SolverWords> WordsOfSolver(const CLI::App& app,
                                  const std::string& path) {
  MXC_ASSIGN(const auto file, NetworkSource::Open(path));
  MXC_ASSIGN(const caffe::SolverCommand command, caffe::CommandOf(*file));
  const Said said(app);
  SolverWords words{{command.net}, command.notes};
  for (const auto& [name, value] : command.options) {
    if (said.Replaces(name, value)) continue;
    words.words.push_back(name);
    if (!value.empty()) words.words.push_back(value);
  }
  words.words.insert(words.words.end(), said.words().begin(),
                     said.words().end());
  return words;
}

Status BeginWith(const std::string& snapshot, SolverWords& words) {
  const auto state = train::ReadCaffeState(snapshot);
  if (!state.ok()) return UnplacedError(state.status().message());
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path model(state->learned_net);
  if (!fs::exists(model, ignored)) {
    model = fs::path(snapshot).parent_path() / model.filename();
  }
  std::erase(words.words, "--snapshot");
  std::erase(words.words, snapshot);
  for (auto& word : {std::string("--params"), model.string(),
                     std::string("--states"), snapshot}) {
    words.words.push_back(word);
  }
  return Done{};
}

}  // namespace mxc
