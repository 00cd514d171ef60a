// SPDX-License-Identifier: Apache-2.0
// What a network is compiled for where others than itself say it: the data of a
// training step, the command line.
#pragma once

#include <string>
#include <vector>

#include "runtime/data/iterator.h"
#include "tools/driver/plan.h"

namespace mxc {

// The network before the shapes are settled. One whose inputs have open extents
// ("T") is read with the shapes of the arrays that have the inputs' names.
Result<Model> DraftForShapes(const data::Iterator& source,
                             const LoadedNetwork& network, Specialization of);

// The inputs for data whose shapes the network says but for the batch; empty
// where it cannot be drafted, which is told when it is compiled.
std::vector<data::Field> TakenBy(const LoadedNetwork& network,
                                 const Specialization& of);

// "the network says 'data' is 3x8x8, the data have 1x28x28: …", a sentence for
// each input of which they say other shapes.
std::vector<std::string> OtherShapes(const std::vector<data::Field>& taken,
                                     const data::Iterator& source);

// The same of the shapes that the command line says, or nothing of a network
// that does not say them all by itself.
std::vector<std::string> OtherShapes(const LoadedNetwork& network,
                                     const InputShapes& said);

// The shapes that the source says, for every input of which the command line
// says nothing.
void TakeShapes(const data::Iterator& source, const Model& model,
                CompileRequest& request);

// Refuses data with fewer labels than the planned network reads.
Status RequireLabels(const data::Iterator& source, const Plan& plan);

}  // namespace mxc
