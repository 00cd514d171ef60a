// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/metric_text.h"

#include <cstdio>

namespace mxc::runtime {
namespace {

std::string Escaped(const std::string& value) {
  std::string text;
  for (const char byte : value) {
    if (byte == '\\' || byte == '"') text += '\\';
    text += byte == '\n' ? std::string("\\n") : std::string(1, byte);
  }
  return text;
}

}  // namespace

Metric::Metric(std::string& text, const std::string& name, const char* type,
               const char* help)
    : text_(text), name_(name) {
  text_ += "# HELP " + name + " " + help + "\n";
  text_ += "# TYPE " + name + " " + std::string(type) + "\n";
}

void Metric::Add(const MetricLabels& labels, double value, const char* suffix) {
  text_ += name_ + suffix;
  const char* separator = "{";
  for (const auto& [label, content] : labels) {
    text_ += separator + label + "=\"" + Escaped(content) + "\"";
    separator = ",";
  }
  if (!labels.empty()) text_ += "}";
  char number[32];
  std::snprintf(number, sizeof number, " %.15g\n", value);
  text_ += number;
}

}  // namespace mxc::runtime
