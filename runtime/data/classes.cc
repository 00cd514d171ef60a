// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/classes.h"

#include <cmath>
#include <map>

namespace mxc::data {
namespace {

constexpr const char* kOption = "class_balanced: ";

Status RequireOneLabel(const Source& source) {
  const Provides provides = source.sample_fields(0);
  if (provides.labels.empty()) {
    return {StatusCode::kInvalidArgument,
            std::string(kOption) + "the samples have no labels"};
  }
  const Extents& shape = provides.labels[0].shape;
  const bool one = runtime::ArrayBytes(ElementType::kU8, shape) == 1;
  if (one && provides.labels.size() == 1 && source.buckets() == 1) return {};
  return {StatusCode::kInvalidArgument,
          std::string(kOption) +
              "a sample has several labels, expected the number of its class"};
}

Status NoClass(const Source& source, int64_t sample, float label) {
  return runtime::Fail(StatusCode::kInvalidArgument,
                       "%s%s has label %g, expected the number of its class",
                       kOption, source.SampleName(sample).c_str(),
                       static_cast<double>(label));
}

}  // namespace

Status FindClasses(const Source& source, Members* members, BadRecords* unread) {
  MXC_RT_RETURN_IF_ERROR(RequireOneLabel(source));
  std::map<float, std::vector<uint32_t>> classes;
  for (int64_t i = 0; i < members->count; ++i) {
    const int64_t sample = members->At(i);
    auto label = source.ReadLabel(sample);
    if (label.ok() && std::isnan(*label)) label = BadRecord("its label is nan");
    if (label.ok()) {
      if (std::isinf(*label) || *label != std::floor(*label)) {
        return NoClass(source, sample, *label);
      }
      classes[*label].push_back(static_cast<uint32_t>(i));
      continue;
    }
    // Of the machine or the source, not of the record.
    if (label.status().code() == StatusCode::kOutOfMemory ||
        label.status().code() == StatusCode::kUnsupported) {
      return label.status();
    }
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

}  // namespace mxc::data
