// SPDX-License-Identifier: Apache-2.0
// Names of a network as a C header spells them.
#pragma once

#include <set>
#include <string>

namespace mxc {

// A C identifier: "resnet-50" becomes resnet_50.
std::string Identifier(const std::string& name);

// Names of a function's parameters, each other than those taken before and than
// the words of C and C++: an output may be called like an input, or twice.
class ParameterNames {
 public:
  explicit ParameterNames(std::set<std::string> taken)
      : taken_(std::move(taken)) {}

  std::string Take(const std::string& name);

 private:
  std::set<std::string> taken_;
};

}  // namespace mxc
