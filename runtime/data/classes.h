// SPDX-License-Identifier: Apache-2.0
// Which samples are of which class, by one pass over their labels: for orders
// that draw every class equally often (order.h).
#pragma once

#include "runtime/data/order.h"
#include "runtime/data/source.h"

namespace mxc::data {

// Fills Members::classes. A sample whose label cannot be read, or is no number,
// is of no class: it is added to `unread`, and never drawn. Refuses labels that
// are no whole numbers, several labels for a sample, and none.
Status FindClasses(const Source& source, Members* members, BadRecords* unread);

}  // namespace mxc::data
