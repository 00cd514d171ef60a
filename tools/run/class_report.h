// SPDX-License-Identifier: Apache-2.0
// How well each class is told from the others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/train/metrics/confusion.h"

namespace mxc::run {

struct ClassFigures {
  std::string name;
  double samples = 0;    // whose label is the class
  double predicted = 0;  // that were taken for it
  double right = 0;      // both
  // 0 where nothing was taken for the class, or nothing is of it.
  double precision = 0, recall = 0, f1 = 0;
};

// Of the classes that have a name, and of all that were met.
std::vector<ClassFigures> FiguresOf(const train::ConfusionMatrix& matrix,
                                    const std::vector<std::string>& names);

// The figures as a table, and below it the confusion matrix, a row for each
// class of the labels; of many classes the pairs that are confused most. Lines
// of at most 80 columns.
std::string ClassTable(const train::ConfusionMatrix& matrix,
                       const std::vector<std::string>& names);

// {"classes": [{name, samples, precision, recall, f1}…],
//  "confusion": [[of label 0 taken for class 0, …]…]}
nlohmann::ordered_json ClassesToJson(const train::ConfusionMatrix& matrix,
                                     const std::vector<std::string>& names);

}  // namespace mxc::run
