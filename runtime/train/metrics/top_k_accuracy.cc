// SPDX-License-Identifier: Apache-2.0
// The share of labels among the k largest predictions of their row. Where
// predictions are equal the lower class counts as larger (MXNet's order is
// NumPy's argpartition, which promises none).
#include <cmath>

#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class TopKAccuracy : public Metric {
 public:
  TopKAccuracy(ArgumentReader& arguments, const std::string& asked)
      : Metric(asked) {
    const bool has_number =
        ParseInteger(std::string_view(asked).substr(4), top_k_);
    if (!has_number) {
      arguments.Read("top_k", top_k_);
      name_ = "top_k_accuracy_" + std::to_string(top_k_);
    }
    if (top_k_ <= 1) {
      arguments.Refuse("metric '" + asked +
                       "' needs top_k=2 or more; for 1 there is accuracy");
    }
  }

  Asks asks() const override { return Asks::kRanking; }

  // Any label would be among them.
  Status RequireClasses(int64_t classes) const override {
    if (classes < 1 || top_k_ < classes) return {};
    const auto most = static_cast<long long>(classes);
    return Fail(StatusCode::kInvalidArgument,
                "%s of %lld classes is 1 whatever is learned; expected %s",
                name().c_str(), most,
                classes > 2 ? Format("at most top_%lld", most - 1).c_str()
                            : "accuracy");
  }

  Status Update(const FloatView& label, const FloatView& prediction) override {
    const auto labels = LabelClasses(label, prediction, 1, name());
    if (!labels.ok()) return labels.status();
    const size_t rows = labels->size();
    if (prediction.shape.size() != 2 ||
        static_cast<size_t>(prediction.shape[0]) != rows) {
      return ShapesDiffer(label, prediction, name());
    }
    const auto classes = static_cast<size_t>(prediction.shape[1]);
    int64_t matches = 0;
    for (size_t i = 0; i < rows; ++i) {
      matches += IsAmongTop(prediction.values.subspan(i * classes, classes),
                            (*labels)[i]);
    }
    Add(static_cast<double>(matches), static_cast<double>(rows));
    return {};
  }

 private:
  bool IsAmongTop(std::span<const float> row, int32_t label) const {
    if (label < 0 || static_cast<size_t>(label) >= row.size()) return false;
    const float own = row[static_cast<size_t>(label)];
    if (std::isnan(own)) return false;
    int64_t before = 0;
    for (size_t k = 0; k < row.size(); ++k) {
      before +=
          row[k] > own || (row[k] == own && k < static_cast<size_t>(label));
    }
    return before < top_k_;
  }

  int64_t top_k_ = 1;
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_top_k_accuracy(ArgumentReader& arguments,
                                                  const std::string& asked) {
  return std::make_unique<TopKAccuracy>(arguments, asked);
}

}  // namespace mxc::train
