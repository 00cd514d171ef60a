// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/classes.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/data/read_ahead.h"

namespace mxc::data {
namespace {

constexpr const char* kOption = "class_balanced: ";

Status RequireOneLabel(const Source& source, const std::string& whose) {
  const Provides provides = source.sample_fields(0);
  if (provides.labels.empty()) {
    return {StatusCode::kInvalidArgument, whose + "the samples have no labels"};
  }
  if (HasOneNumber(source)) return {};
  return {
      StatusCode::kInvalidArgument,
      whose + "a sample has several labels, expected the number of its class"};
}

Status NoClass(const Source& source, int64_t sample, float label,
               const char* whose) {
  return runtime::Fail(StatusCode::kInvalidArgument,
                       "%s%s has label %g, expected the number of its class",
                       whose, source.SampleName(sample).c_str(),
                       static_cast<double>(label));
}

// Tells a source which samples come while they are read in a row.
class InARow {
 public:
  InARow(const Source& source, const Members& members)
      : source_(source), members_(members) {}

  void Reach(int64_t i) {
    if (source_.complete()) return;
    ahead_.Pass({.row = i});
    while (told_ < members_.count &&
           ahead_.Tell(source_, members_.At(told_), {.row = told_})) {
      ++told_;
    }
  }

 private:
  const Source& source_;
  const Members& members_;
  ReadAhead ahead_;
  int64_t told_ = 0;
};

// Of the machine or the source, not of a record.
bool EndsAll(const Status& status) {
  return status.code() == StatusCode::kOutOfMemory ||
         status.code() == StatusCode::kUnsupported;
}

// Returns whether the labels look like probabilities of classes of which each
// sample has one: a 1 among zeros.
StatusOr<bool> IsOneHot(const Source& source, const Provides& fields) {
  constexpr int64_t kMost = 1000;  // samples: a picture is decoded for each
  std::vector<std::vector<double>> values;  // aligned
  std::vector<std::byte*> rows;
  for (const auto* list : {&fields.data, &fields.labels}) {
    for (const Field& field : *list) {
      const auto bytes = runtime::ArrayBytes(field.type, field.shape);
      if (!bytes) return false;
      values.emplace_back(static_cast<size_t>(*bytes) / sizeof(double) + 1);
      rows.push_back(reinterpret_cast<std::byte*>(values.back().data()));
    }
  }
  const int64_t size = source.size(), step = std::max<int64_t>(1, size / kMost);
  const Field& label = fields.labels[0];
  const auto classes = runtime::ArrayBytes(ElementType::kU8, label.shape);
  for (int64_t sample = 0; sample < size; sample += step) {
    const SampleRequest request = {.sample = sample, .rows = rows};
    const Status read = source.Read(request);
    if (!read.ok() && EndsAll(read)) return read;
    if (!read.ok()) continue;
    const auto of =
        request.Floats(fields.data.size(), static_cast<size_t>(*classes));
    const auto ones = std::ranges::count(of, 1.0F);
    if (ones != 1 || std::ranges::count(of, 0.0F) != *classes - 1) return false;
  }
  return size > 0;
}

}  // namespace

bool HasOneNumber(const Source& source) {
  const Provides provides = source.sample_fields(0);
  return source.buckets() == 1 && provides.labels.size() == 1 &&
         runtime::ArrayBytes(ElementType::kU8, provides.labels[0].shape) == 1;
}

Status FindClasses(const Source& source, Members* members, BadRecords* unread) {
  MXC_RT_RETURN_IF_ERROR(RequireOneLabel(source, kOption));
  std::map<float, std::vector<uint32_t>> classes;
  InARow ahead(source, *members);
  for (int64_t i = 0; i < members->count; ++i) {
    ahead.Reach(i);
    const int64_t sample = members->At(i);
    auto label = source.ReadLabel(sample);
    if (label.ok() && std::isnan(*label)) label = BadRecord("its label is nan");
    if (label.ok()) {
      if (std::isinf(*label) || *label != std::floor(*label)) {
        return NoClass(source, sample, *label, kOption);
      }
      classes[*label].push_back(static_cast<uint32_t>(i));
      continue;
    }
    if (EndsAll(label.status())) return label.status();
    ++unread->count;
    if (unread->sentences.size() < BadRecords::kMostSentences) {
      unread->sentences.push_back(source.SampleName(sample) + ": " +
                                  label.status().message());
    }
  }
  if (classes.empty() && members->count > 0) {
    return BadRecord(kOption + unread->sentences[0] + "; so are all others");
  }
  for (auto& [label, of_class] : classes) {
    members->classes.push_back(std::move(of_class));
  }
  return {};
}

StatusOr<int64_t> CountClasses(const Source& source) {
  const Provides fields = source.sample_fields(0);
  if (source.buckets() == 1 && fields.labels.size() == 1 &&
      fields.labels[0].type == ElementType::kF32 &&
      fields.labels[0].shape.size() == 1 && fields.labels[0].shape[0] > 1) {
    const auto one_hot = IsOneHot(source, fields);
    if (!one_hot.ok()) return one_hot.status();
    if (*one_hot) return fields.labels[0].shape[0];
  }
  MXC_RT_RETURN_IF_ERROR(RequireOneLabel(source, ""));
  float most = -1;
  const Members all{0, source.size(), {}};
  InARow ahead(source, all);
  for (int64_t sample = 0; sample < source.size(); ++sample) {
    ahead.Reach(sample);
    const auto label = source.ReadLabel(sample);
    if (!label.ok() && EndsAll(label.status())) return label.status();
    if (!label.ok() || std::isnan(*label)) continue;
    if (*label < 0 || std::isinf(*label) || *label != std::floor(*label)) {
      return NoClass(source, sample, *label, "");
    }
    most = std::max(most, *label);
  }
  if (most < 0) return BadRecord("no sample has a label");
  if (most < static_cast<float>(source.size())) {
    return static_cast<int64_t>(most) + 1;
  }
  return runtime::Fail(StatusCode::kInvalidArgument,
                       "labels up to %g of %lld samples do not look like "
                       "numbers of classes",
                       static_cast<double>(most),
                       static_cast<long long>(source.size()));
}

}  // namespace mxc::data
