// SPDX-License-Identifier: Apache-2.0
// What a network that is to be trained says of labels, before it is compiled.
#pragma once

#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/data/iterator.h"
#include "runtime/train/head.h"
#include "tools/driver/network.h"
#include "tools/driver/request.h"

namespace mxc {

// What --classes says: how many, or "auto", as many as the data have.
std::string CheckClasses(const std::string& text);  // empty: good
// Has the network tell as many classes apart; nothing where `text` is empty.
Status SetClasses(const std::string& text, const data::Iterator& source,
                  const CompileRequest& request, LoadedNetwork& network);

// The loss heads of the network as the request will have it compiled; none
// where that fails, which is told when it is compiled.
std::vector<train::Head> HeadsOf(const LoadedNetwork& network,
                                 const CompileRequest& request);

// Gives a label that is the number of a class the shape of mixed ones, the
// probability of each class, where samples are mixed (data::Iterator::mixes).
// Refuses networks whose loss takes no probabilities.
Status MixLabels(const data::Iterator& source, const LoadedNetwork& network,
                 CompileRequest& request);

// Refuses metrics (--metric) that the heads do not fit.
Status RequireMetrics(const std::string& names,
                      const std::vector<train::Head>& heads);

}  // namespace mxc
