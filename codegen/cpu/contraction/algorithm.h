// SPDX-License-Identifier: Apache-2.0
// The algorithms of KernelChoice that this folder implements, and how each
// wants its weights packed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/program/layout.h"
#include "ir/program/program.h"

namespace mxc::contraction {

// Convolution over data in channel blocks, or row-major for a first layer.
inline constexpr std::string_view kDirect = "direct";
// The same on blocks, by units that add the products of two, or four,
// neighbouring channels to a sum (dot_unit.h).
inline constexpr std::string_view kPairs = "pairs";
inline constexpr std::string_view kQuads = "quads";
// Convolution or product by a matrix unit, on data that hold all channels of a
// position side by side.
inline constexpr std::string_view kTiles = "tiles";
// Row-major data of few channels, by units that multiply pairs: neighbouring
// positions of a row.
inline constexpr std::string_view kColumnPairs = "column_pairs";
// One channel for each group.
inline constexpr std::string_view kDepthwise = "depthwise";
// The same by units that add the products of two, or four, neighbouring
// positions of a channel to its sum (dot_unit.h).
inline constexpr std::string_view kDepthwisePairs = "depthwise_pairs";
inline constexpr std::string_view kDepthwiseQuads = "depthwise_quads";
// Groups of a few channels, several to a block.
inline constexpr std::string_view kGrouped = "grouped";
// Convolution by Winograd's minimal filtering, in tiles of so many outputs on a
// side: 2, 4 or (3x3 only) 6; of 4x4 kernels 3 or 5; 1xr and rx1 kernels in
// lines of them.
inline constexpr std::string_view kWinograd2 = "winograd2";
inline constexpr std::string_view kWinograd3 = "winograd3";
inline constexpr std::string_view kWinograd4 = "winograd4";
inline constexpr std::string_view kWinograd5 = "winograd5";
inline constexpr std::string_view kWinograd6 = "winograd6";
// Products of channels by Strassen's algorithm, 1x1 kernels (strassen_shape.h).
inline constexpr std::string_view kStrassen = "strassen";
// Sums over images and positions of two activations (pixel_sums.h).
inline constexpr std::string_view kPixelSums = "pixel_sums";
// The same for gradients of 3x3 or 5x5 kernels by Winograd's minimal filtering,
// from tiles of 2 x 2, 4 x 4 or (3x3 only) 6 x 6 of the outputs' gradients
// (winograd_sums_shape.h).
inline constexpr std::string_view kWinogradSums2 = "winograd2_sums";
inline constexpr std::string_view kWinogradSums4 = "winograd4_sums";
inline constexpr std::string_view kWinogradSums6 = "winograd6_sums";
// Matrix products of row-major data. The weight is packed, or taken as it is:
// an activation in blocks of its rows (kGemm), or row-major with the output's
// channels side by side (kGemmRows).
inline constexpr std::string_view kGemm = "gemm";
inline constexpr std::string_view kGemmRows = "gemm_rows";
// Of one row with weights of 4 bits, packed as for kGemm: the row's elements as
// integers, by an instruction that multiplies bytes (digit_planes.h).
inline constexpr std::string_view kGemmDigits = "gemm_digits";

// The side of the tiles of outputs (of their gradients) that one of Winograd's
// algorithms computes (sums); 0 for others.
int64_t WinogradTile(std::string_view algorithm);
int64_t WinogradSumsTile(std::string_view algorithm);
// The tile's and its window's sides for each of the two axes: 1 where the
// kernel has one position only, nothing being transformed along that axis.
Extents WinogradTiles(const Contraction& c, std::string_view algorithm);
Extents WinogradWindows(const Contraction& c, std::string_view algorithm);

// The border of zeros that `c` reads around its data, for each spatial axis.
Extents HaloLow(const Contraction& c);
Extents HaloHigh(const Contraction& c);

// Panels of panel_vectors · lanes output channels, outermost first:
//   direct, blocked data     groups, panel, channel block, kernel axes, channel
//   pairs, quads             the same, with the last channels in pairs: each of
//                            the panel's output channels has a pair of entries;
//                            or four and four
//   direct, row-major data   panel, channel, kernel axes
//   column_pairs             the same, with the positions of the last axis in
//                            pairs: each output channel has one
//   depthwise, grouped       panel, kernel axes, channel of the group
//   depthwise_pairs, _quads  the same, with the positions of the last axis in
//                            pairs (fours): each output channel has one
//   gemm                     groups, panel, channel
//   winograd                 panel, transformed kernel axes, channel
//   pairs, quads, row-major  groups, panel, pair or four of channels; likewise
//   tiles                    panel, kernel axes, word of channels (a pair, or
//                            four); each of the panel's output channels has one
//   strassen                 panel, 7 sums of quarters, channel: halves
// each entry followed by the panel's output channels.
Layout WeightLayout(const Contraction& c, std::string_view algorithm,
                    int64_t data_block, int lanes, int panel_vectors);

}  // namespace mxc::contraction
