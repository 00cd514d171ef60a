// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/accuracy_text.h"

#include <fmt/format.h>

#include <cstddef>

namespace mxc {

Json JsonOf(const Accuracy& accuracy) {
  Json json = Json::object();
  for (const auto& [name, value] : accuracy.metrics) json[name] = value;
  if (accuracy.agreement) json["agreement"] = *accuracy.agreement;
  json["difference"] = accuracy.difference;
  return json;
}

void PrintAccuracy(const Accuracy& before, const Accuracy& after,
                   std::string_view narrow) {
  PrintOut("{:14}  {:>9}  {:>9}\n", "", "float32", narrow);
  for (size_t i = 0; i < before.metrics.size(); ++i) {
    PrintOut("{:14}  {:9.6g}  {:9.6g}\n", before.metrics[i].first,
             before.metrics[i].second, after.metrics[i].second);
  }
  if (after.agreement) {
    PrintOut("{:14}  {:9}  {:9.6g}\n", "agreement", 1, *after.agreement);
  }
  PrintOut("{:14}  {:9}  {:9.4g}\n", "difference", 0, after.difference);
}

std::string AccuracyText(const Accuracy& before, const Accuracy& after) {
  std::string text;
  for (size_t i = 0; i < before.metrics.size(); ++i) {
    text += fmt::format("{} {:.6g} -> {:.6g}, ", before.metrics[i].first,
                        before.metrics[i].second, after.metrics[i].second);
  }
  if (after.agreement) {
    return text + fmt::format("agreement {:.6g}", *after.agreement);
  }
  return text + fmt::format("difference {:.4g}", after.difference);
}

}  // namespace mxc
