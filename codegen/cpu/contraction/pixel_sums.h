// SPDX-License-Identifier: Apache-2.0
// Pixel sums: contractions whose reduction runs over images and positions, as
// the gradient of a convolution's weight. Both operands are activations, in the
// layouts in which other steps left them: data is broadcast, and the lanes are
// the second operand's channels. A register tile has a few input channels (of a
// block) or kernel positions (of row-major data) by a few vectors of output
// channels, and sums over a block of positions that stays in the first caches
// while all tiles read it.
//
//   dW[m, c, w] = Σ_{n, y} x[n, c, y·stride + w·dilate − pad] · dY[n, m, y]
#pragma once

#include <vector>

#include "codegen/cpu/contraction/nest.h"
#include "ir/program/program.h"

namespace mxc::contraction {

// The shapes of contractions that are pixel sums:
//   data    f[N, C, spatial …]
//   weight  f[N, M, spatial …]
//   output  f[M, C / G, spatial …], or f[parts, M, C, spatial …] (InParts)
bool IsPixelSums(const Contraction& c);
// Groups of a few channels, as many in as out, several to a block: products
// lane by lane, each with a channel of its own group.
bool IsPixelSumsByLane(const Contraction& c, int64_t lanes);

// Into how many parts the images are best cut: tasks that share images read
// their operands only once, and where the outputs, in tiles of so many channels
// of both operands, are few, there would else be few tasks.
int64_t ChooseParts(const CpuMachine& machine, const Contraction& c,
                    int64_t data_channels, int64_t out_channels);

std::vector<Nest> MakePixelSums(const CpuMachine& machine,
                                const Program& program, const Step& step);

}  // namespace mxc::contraction
