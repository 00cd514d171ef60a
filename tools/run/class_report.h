// SPDX-License-Identifier: Apache-2.0
// How well each class is told from the others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/train/class_counts.h"

namespace mxc::run {

// The figures and their means as a table, and below it the confusion matrix, a
// row for each class of the labels; of many classes the pairs that are confused
// most. Lines of at most 80 columns.
std::string ClassTable(const train::ClassCounts& counts);

// {"classes": [{name, samples, precision, recall, f1}…],
//  "macro": {precision, recall, f1}, "weighted": {precision, recall, f1},
//  "confusion": [[of label 0 taken for class 0, …]…]}
nlohmann::ordered_json ClassesToJson(const train::ClassCounts& counts);

}  // namespace mxc::run
