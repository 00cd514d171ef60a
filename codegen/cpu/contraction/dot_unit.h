// SPDX-License-Identifier: Apache-2.0
// DotUnit: sums of a register tile by a unit that adds the products of k
// neighbouring channels, or positions of its channel, to each lane's sum: a
// ProductUnit of one row, as wide as a vector of sums. A row of the machine's
// products is enough for one: without an instruction of its own (dot_units.def)
// it is written out in vectors'.
#pragma once

#include <string_view>

#include "codegen/cpu/cpu_machine.h"
#include "codegen/llvm/kernel_function.h"
#include "ir/program/steps/contraction.h"

namespace mxc::contraction {

// The algorithm of units of so many channels; empty: there is none.
std::string_view DotAlgorithm(int channels);
// The channels that a unit of the algorithm multiplies at once; 0: it is of
// another kind.
int DotChannels(std::string_view algorithm);

// The same of k neighbouring positions of a depthwise kernel.
std::string_view TapAlgorithm(int taps);
int DotTaps(std::string_view algorithm);

// Returns whether kernels can use the unit for sums in vectors of so many
// lanes.
bool IsDotUnit(const ProductUnit& unit, int lanes);

// Returns whether the unit's instruction takes data for unsigned ones that are
// not: they are then loaded with as much added as makes them so.
bool AddsToData(const ProductUnit& unit);

// The unit of a contraction for which the catalog offered the algorithm.
const ProductUnit& DotUnitOf(const CpuMachine& machine,
                             const ContractionTypes& types,
                             std::string_view algorithm);

// sums + a · b, lane by lane.
llvm::Value* PlusProduct(KernelFunction& kernel, llvm::Value* sums,
                         llvm::Value* a, llvm::Value* b);

// The channels of every lane's weights, side by side; those of one position of
// data, which every lane gets.
llvm::Value* LoadWeightDots(KernelFunction& kernel, const ProductUnit& unit,
                            llvm::Value* address);
// `added`: AddedToData's value, or null.
llvm::Value* LoadDataDots(KernelFunction& kernel, const ProductUnit& unit,
                          llvm::Value* address, llvm::Value* added);
// In each lane, k positions of its channel, which lie one behind the other.
llvm::Value* LoadDataTaps(KernelFunction& kernel, const ProductUnit& unit,
                          llvm::Value* address, llvm::Value* added);
// One element for every lane, the first of its dots, which are zeros otherwise.
llvm::Value* LoadDataFirst(KernelFunction& kernel, const ProductUnit& unit,
                           llvm::Value* address);
// Of each lane: the elements at both addresses, a pair of dots; with a null
// second one, those of the first and zeros.
llvm::Value* LoadPairs(KernelFunction& kernel, const ProductUnit& unit,
                       DType dtype, llvm::Value* first, llvm::Value* second);
// sums + the products of both, as they were loaded.
llvm::Value* EmitDots(KernelFunction& kernel, const ProductUnit& unit,
                      llvm::Value* sums, llvm::Value* data,
                      llvm::Value* weights);

// What a unit that adds to data adds, in every lane; what that does to the sums
// is what this value's products do. In a register, which stays taken as long as
// the value is used.
llvm::Value* AddedToData(KernelFunction& kernel, const ProductUnit& unit);

}  // namespace mxc::contraction
