// SPDX-License-Identifier: Apache-2.0
// What a network says of each sample, as a table in a file (RFC 4180).
//
//   sample,name,label,prediction,probability     of classes
//   sample,name,label,prediction                 of values
//
// Classes have their names where they have one, else their numbers; of several
// values a sample each has a column.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/file_writer.h"
#include "runtime/train/score.h"

namespace mxc::run {

class Predictions : public train::ScoreListener {
 public:
  // `source`: --data, which names of samples begin with; `names`: of the classes.
  Predictions(const std::string& path, const std::string& source,
              const std::vector<train::Head>& heads,
              std::vector<std::string> names);

  // Refuses a network that says several things of a sample.
  runtime::Status OnBatch(
      const data::Batch& batch, const data::Iterator& samples,
      const std::vector<train::FloatView>& outputs) override;
  // The file is complete.
  runtime::Status Commit() { return writer_.Commit(); }

 private:
  void WriteHead(size_t labels, size_t predictions);
  void WriteClass(std::span<const float> label, std::span<const float> row);
  void WriteValues(std::span<const float> label, std::span<const float> row);
  std::string ClassName(float number) const;
  std::string SampleName(const std::string& name) const;

  runtime::FileWriter writer_;
  const std::string prefix_;  // of the samples' names
  train::Head head_;
  std::vector<std::string> names_;
  std::vector<float> labels_;
  bool begun_ = false;
  std::string line_;
};

}  // namespace mxc::run
