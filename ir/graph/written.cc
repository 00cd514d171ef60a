// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/written.h"

#include <algorithm>

namespace mxc {

const std::string* WrittenNode::Attribute(std::string_view name) const {
  const auto found = std::ranges::find(attributes, name, &AttrText::first);
  return found == attributes.end() ? nullptr : &found->second;
}

const std::string* WrittenNode::Annotation(const std::string& name) const {
  const auto found = annotations.find(name);
  return found == annotations.end() ? nullptr : &found->second;
}

void WrittenNode::SetAttribute(const std::string& name,
                               const std::string& text) {
  SetText(name, text, attributes);
}

void WrittenNode::Annotate(const std::string& name, const std::string& text) {
  if (text.empty()) {
    annotations.erase(name);
  } else {
    annotations[name] = text;
  }
}

void SetText(const std::string& name, const std::string& text,
             std::vector<AttrText>& attrs) {
  const auto found = std::ranges::find(attrs, name, &AttrText::first);
  if (found == attrs.end()) {
    attrs.emplace_back(name, text);
  } else {
    found->second = text;
  }
}

}  // namespace mxc
