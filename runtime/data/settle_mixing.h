// SPDX-License-Identifier: Apache-2.0
// Whether samples are mixed, and labels given as probabilities of classes: what
// the options, the source and the network say together.
#pragma once

#include "runtime/data/loader.h"

namespace mxc::data {

// Fills LoaderOptions::classes, mix and axes, or says why samples cannot be
// mixed.
Status SettleMixing(const Source& source, const IteratorOptions& open,
                    const CommonOptions& common, LoaderOptions& options);

}  // namespace mxc::data
