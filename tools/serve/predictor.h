// SPDX-License-Identifier: Apache-2.0
// An opened network that answers questions.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/run/feed.h"
#include "tools/run/session.h"
#include "tools/serve/question.h"
#include "tools/serve/samples.h"

namespace mxc::serve {

// Used by several threads at once; each takes an executor of its own, which
// share the model's weights.
class Predictor {
 public:
  // Finds out which compiled batches give samples the bytes that they have
  // alone, where there are several.
  Predictor(std::string name, run::Session session,
            run::PictureOptions pictures);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& labels() const { return labels_; }
  // {"network", "inputs": [{name, dtype, shape}…], "outputs": […], "classes"}
  Json Describe() const;
  // KServe's metadata.
  Json DescribeKserve() const;

  // What `mxc run` would warn of before it runs them: how pictures and arrays
  // are treated, where that may not be as in training.
  std::vector<std::string> DoubtsOf(const Question& question) const;

  // So many samples of several questions may run at once; 1: each runs alone.
  int64_t most_together() const { return most_together_; }

  // The samples of a question; nothing: it is run alone. Throws a run::Failure
  // where its parts are at fault.
  std::optional<Samples> SamplesOf(const Question& question) const;
  // Any number of samples of each, in batches: an answer for each. Where there
  // is more than one, all together are at most most_together().
  std::vector<Answer> Run(std::span<const Samples> samples);
  // Throws a run::Failure where its parts are at fault.
  Answer RunAlone(const Question& question);

 private:
  class Lease;  // an executor

  void RequireParts(const std::vector<Part>& parts) const;
  std::vector<Answer> RunBatches(size_t entry,
                                 std::span<const Samples> samples);
  std::vector<size_t> Entries() const;  // of the session's name
  bool TakesSamples() const;
  bool SameBytes(size_t entry);

  const std::string name_;
  const run::Session session_;
  run::Feed feed_;  // without files
  const std::vector<std::string> labels_;
  std::optional<run::NetworkInput> input_;  // the one that takes samples
  int64_t most_together_ = 1;
  std::mutex mutex_;
  std::map<size_t, std::vector<api::Executor>> idle_;  // by entry
};

}  // namespace mxc::serve
