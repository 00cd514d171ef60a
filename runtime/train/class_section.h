// SPDX-License-Identifier: Apache-2.0
// What a report says by class: a table of figures, and the confusion matrix as a
// heat map.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/train/class_counts.h"

namespace mxc::train {

// Of a validation.
struct ValidatedClasses {
  int64_t epoch = 0;
  ClassCounts counts;
};

// HTML for the page's body; empty where there are no classes. Precision, recall,
// F1 of each class and their means; the matrix, a row for each class of the
// labels, a cell's colour by its share of the row; of many classes also the pairs
// that are confused most. A matrix of more than kMostDrawn classes is not drawn.
// Readable without kClassScript.
std::string ClassSection(const ValidatedClasses& validated);
inline constexpr size_t kMostDrawn = 200;
// Cells are of the classes right1 … and wrong1 …, up to this level of a colour,
// which the page's style gives them.
inline constexpr int kCellLevels = 9;

// The section's part of the page's style, and of its script: what a cell is when
// the pointer is there, rows in the order of a column that is clicked, the
// matrix as small as the window.
extern const char* const kClassStyle;
extern const char* const kClassScript;

}  // namespace mxc::train
