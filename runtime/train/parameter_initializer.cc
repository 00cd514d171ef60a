// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/parameter_initializer.h"

#include <utility>

#include "runtime/train/floats.h"
#include "runtime/train/read_parameters.h"

namespace mxc::train {
namespace {

// std::regex recurses once for each character.
constexpr size_t kLongestName = 4096;

Status CopyLoaded(const runtime::Array& array, const Target& target) {
  if (array.shape != target.shape) {
    return Fail(StatusCode::kInvalidArgument,
                "the loaded array for '%s' has another shape",
                target.name.c_str());
  }
  ToFloats(array.type, array.bytes(), target.values);
  return {};
}

}  // namespace

StatusOr<ParameterInitializer> ParameterInitializer::Parse(
    std::string_view text) {
  ParameterInitializer result;
  while (!text.empty()) {
    const size_t end = text.find(';');
    MXC_RT_RETURN_IF_ERROR(result.AddPart(text.substr(0, end)));
    text = end == text.npos ? "" : text.substr(end + 1);
  }
  return result;
}

Status ParameterInitializer::AddPart(std::string_view part) {
  constexpr std::string_view kLoad = "load:", kArrow = "=>";
  if (part.starts_with(kLoad)) {
    auto arrays = ReadParameters(std::string(part.substr(kLoad.size())));
    if (!arrays.ok()) return arrays.status();
    Load(std::move(*arrays));
    return {};
  }
  const size_t arrow = part.find(kArrow);
  const bool has_pattern = arrow != part.npos;
  const auto initializer =
      ParseInitializer(has_pattern ? part.substr(arrow + kArrow.size()) : part);
  if (!initializer.ok()) return initializer.status();
  if (!has_pattern) {
    if (otherwise_ != nullptr) {
      return Fail(StatusCode::kInvalidArgument,
                  "initializer '%s' is one too many: only one may stand "
                  "without a pattern",
                  std::string(part).c_str());
    }
    otherwise_ = *initializer;
    return {};
  }
  const std::string pattern(part.substr(0, arrow));
  try {
    patterns_.push_back({std::regex(pattern), *initializer});
  } catch (const std::regex_error&) {
    return Fail(StatusCode::kInvalidArgument, "'%s' is no regular expression",
                pattern.c_str());
  }
  return {};
}

void ParameterInitializer::Load(std::vector<runtime::NamedArray> arrays) {
  for (runtime::NamedArray& named : arrays) {
    const std::string name(runtime::OwnName(named.name));
    loaded_[name] = std::move(named.array);
  }
}

InitializerRef ParameterInitializer::Choose(const std::string& name) const {
  if (name.size() > kLongestName) return otherwise_;
  for (const Pattern& pattern : patterns_) {
    try {
      if (std::regex_search(name, pattern.expression,
                            std::regex_constants::match_continuous)) {
        return pattern.initializer;
      }
    } catch (const std::regex_error&) {  // too much work: no match
    }
  }
  return otherwise_;
}

Status ParameterInitializer::Fill(const Target& target,
                                  std::string_view annotation,
                                  NameRules rules) const {
  const auto found = loaded_.find(target.name);
  if (found != loaded_.end()) return CopyLoaded(found->second, target);
  const InitializerRef weights = Choose(target.name);
  if (!annotation.empty()) {
    const auto own = ParseInitializer(annotation);
    if (!own.ok()) return own.status();
    Target annotated = target;
    annotated.weights = weights.get();
    return (*own)->Fill(annotated);
  }
  if (weights != nullptr) return FillByName(*weights, target, rules);
  return Fail(StatusCode::kInvalidArgument,
              "no initializer for '%s': it matches no pattern, and none stands "
              "without a pattern",
              target.name.c_str());
}

}  // namespace mxc::train
