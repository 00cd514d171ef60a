// SPDX-License-Identifier: Apache-2.0
// Which samples are of which class, and how many classes there are, by one pass
// over the labels.
#pragma once

#include "runtime/data/order.h"
#include "runtime/data/source.h"

namespace mxc::data {

// Returns whether every sample has one number as its label, as those of classes
// are.
bool HasOneNumber(const Source& source);

// For orders that draw every class equally often (order.h): fills
// Members::classes. A sample whose label cannot be read, or is no number,
// is of no class: it is added to `unread`, and never drawn. Refuses labels that
// are no whole numbers, several labels for a sample, and none.
Status FindClasses(const Source& source, Members* members, BadRecords* unread);

// One more than the largest label; of labels with one 1 among zeros, how many
// numbers they have. Labels that cannot be read are passed over.
// Refuses labels that are no numbers of classes, 0, 1, …, or as large as if they
// were none, several labels for a sample, and none.
StatusOr<int64_t> CountClasses(const Source& source);

}  // namespace mxc::data
