// SPDX-License-Identifier: Apache-2.0
// What a .def file lists, by name and by alias.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/support/check.h"

namespace mxc {

// `T` has a `name` and `aliases`. No two entries have one in common.
template <class T>
class Registry {
 public:
  explicit Registry(std::vector<T> entries) : entries_(std::move(entries)) {
    for (const T& entry : entries_) {
      list_.push_back(&entry);
      Name(entry.name, entry);
      for (const auto& alias : entry.aliases) Name(alias, entry);
    }
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  const T* Find(std::string_view name) const {  // null if there is none
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  // In the order of the list.
  std::span<const T* const> list() const { return list_; }
  // Names and aliases of the entries that are `wanted`, in that order.
  template <class F>
  std::vector<std::string_view> Names(F wanted) const {
    std::vector<std::string_view> names;
    for (const auto& [name, entry] : names_) {
      if (wanted(*entry)) names.push_back(name);
    }
    return names;
  }

 private:
  void Name(std::string_view name, const T& entry) {
    MXC_CHECK(by_name_.emplace(name, &entry).second, "two are called '{}'",
              name);
    names_.emplace_back(name, &entry);
  }

  const std::vector<T> entries_;
  std::vector<const T*> list_;
  std::vector<std::pair<std::string_view, const T*>> names_;
  std::map<std::string_view, const T*> by_name_;
};

}  // namespace mxc
