// SPDX-License-Identifier: Apache-2.0
#include "tools/run/predictions.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/number_text.h"
#include "runtime/train/floats.h"

namespace mxc::run {
namespace {

using runtime::Fail;
using runtime::Format;
using runtime::Status;
using runtime::StatusCode;
using train::HeadKind;

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// The head that is written: of one that is not known the first output is taken
// for scores of classes if it has several for a sample.
train::Head HeadOf(const std::vector<train::Head>& heads) {
  if (!heads.empty()) return heads.front();
  train::Head head;
  head.kind = HeadKind::kClasses;
  head.label = 0;
  return head;
}

bool IsOfClasses(HeadKind kind) {
  return kind == HeadKind::kClasses || kind == HeadKind::kDistribution ||
         kind == HeadKind::kMargins;
}

size_t Largest(std::span<const float> row) {
  return static_cast<size_t>(std::ranges::max_element(row) - row.begin());
}

}  // namespace

Predictions::Predictions(const std::string& path, const std::string& source,
                         const std::vector<train::Head>& heads,
                         std::vector<std::string> names)
    : writer_(path),
      prefix_(source + ": "),
      head_(HeadOf(heads)),
      names_(std::move(names)) {}

std::string Predictions::SampleName(const std::string& name) const {
  return name.starts_with(prefix_) ? name.substr(prefix_.size()) : name;
}

std::string Predictions::ClassName(float number) const {
  const bool named = number >= 0 && number == std::trunc(number) &&
                     number < static_cast<float>(names_.size());
  return named ? names_[static_cast<size_t>(number)]
               : runtime::ShortestText(number);
}

void Predictions::WriteHead(size_t labels, size_t predictions) {
  std::string line = "sample,name";
  const auto columns = [&](const char* name, size_t count) {
    for (size_t k = 0; k < count; ++k) {
      line += Format(count > 1 ? ",%s_%zu" : ",%s", name, k);
    }
  };
  if (IsOfClasses(head_.kind)) {
    line += labels > 0 ? ",label,prediction,probability"
                       : ",prediction,probability";
    if (head_.kind == HeadKind::kMargins) {
      line.replace(line.rfind("probability"), line.npos, "score");
    }
  } else {
    columns("label", labels);
    columns("prediction", predictions);
  }
  writer_.Append(line + "\r\n");
  begun_ = true;
}

void Predictions::WriteClass(std::span<const float> label,
                             std::span<const float> row) {
  if (!label.empty()) {
    const float number =
        label.size() > 1 ? static_cast<float>(Largest(label)) : label[0];
    line_ += "," + Quoted(ClassName(number));
  }
  const size_t best = Largest(row);
  line_ += "," + Quoted(ClassName(static_cast<float>(best))) + "," +
           runtime::ShortestText(row[best]);
}

void Predictions::WriteValues(std::span<const float> label,
                              std::span<const float> row) {
  for (const float value : label) line_ += "," + runtime::ShortestText(value);
  for (const float value : row) line_ += "," + runtime::ShortestText(value);
}

Status Predictions::OnBatch(const data::Batch& batch,
                            const data::Iterator& samples,
                            const std::vector<train::FloatView>& outputs) {
  const auto rows = static_cast<size_t>(batch.rows());
  const auto output = static_cast<size_t>(head_.output);
  if (rows == 0) return {};
  if (output >= outputs.size() || outputs[output].values.size() % rows != 0) {
    return Fail(StatusCode::kUnsupported,
                "--predictions: the network says nothing of single samples");
  }
  const std::span<const float> said = outputs[output].values;
  const size_t width = said.size() / rows;
  const bool several =
      head_.classes > 0 && width != static_cast<size_t>(head_.classes);
  if (IsOfClasses(head_.kind) && several) {
    return Fail(StatusCode::kUnsupported,
                "--predictions writes one class for a sample, and the network "
                "says %zu numbers of %lld classes",
                width, static_cast<long long>(head_.classes));
  }
  size_t label = 0;  // numbers a sample
  if (head_.label >= 0 && head_.label < std::ssize(batch.labels)) {
    const runtime::Array& array =
        batch.labels[static_cast<size_t>(head_.label)].array;
    train::ToFloats(array.type, array.bytes(), labels_);
    label = labels_.size() / rows;
  }
  if (!begun_) WriteHead(label, width);
  const size_t counted = rows - static_cast<size_t>(batch.pad);
  for (size_t r = 0; r < counted; ++r) {
    const int64_t sample = batch.index[r];
    line_ = std::to_string(sample) + "," +
            Quoted(SampleName(samples.SampleName(sample)));
    const auto own = std::span(labels_).subspan(r * label, label);
    const auto row = said.subspan(r * width, width);
    if (IsOfClasses(head_.kind)) {
      WriteClass(own, row);
    } else {
      WriteValues(own, row);
    }
    writer_.Append(line_ + "\r\n");
  }
  return {};
}

}  // namespace mxc::run
