// SPDX-License-Identifier: Apache-2.0
// CpuMachine: what the kernels for CPUs, and what they cost, ask of a processor
// beside what every part of the compiler does (ir/target/machine.h).
#pragma once

#include <cstdint>

#include "ir/target/machine.h"
#include "ir/target/target.h"

namespace mxc {

// The part of the most that a core can compute which kinds of kernels reach.
struct KernelRates {
  double planes = 0.97;        // products of matrices, one after the other
  double few_channels = 0.85;  // products of few channels
  double widening = 0.6;       // data widened as it is read
  double integers = 0.3;       // multiplied and added by two instructions
  double row_major = 0.7;      // data in short, strided pieces
  double few_inputs = 1.02;    // few channels of data: such pieces are as good
  // What rows of a weight that is not packed take more, and those of which few
  // stay in a cache, as they lie in the same sets.
  double rows = 1.2, aliased_rows = 1.7;
  // What data whose rows lie side by side take more: elements less than a page
  // from the next, and further.
  double near_data = 1.15, far_data = 1.4;
  double depthwise = 0.5, grouped = 0.7, by_lane = 0.5;
};

struct CpuMachine : Machine {
  explicit CpuMachine(const Machine& machine) : Machine(machine) {}

  int vector_registers = 16;
  // Of a processor that computes another's bytes, by vectors of the other's size:
  // registers that it has, and that such a vector takes.
  int own_registers = 16, registers_of_vector = 1;
  // An instruction reads an element of memory into all lanes and multiplies, so
  // that the element takes no register.
  bool multiplies_by_memory = false;
  // An instruction multiplies by one element of a register, so that a register
  // for each position holds the elements of several steps.
  bool multiplies_by_element = false;
  // An instruction brings a line into a cache that is needed later.
  bool fetches_ahead = true;
  // The size of vectors whose lanes one instruction exchanges, for LLVM at least.
  int exchanged_bytes = 64;
  // By how much Strassen's algorithm, whose weights are 7/4 as large, has to be
  // faster.
  double strassen_margin = 1.02;
  // Vectors of this size take twice as long as their halves where units are
  // half as wide, and never less.
  int split_vector_bytes = 64;
  KernelRates rates;

  // Tiles of sums that kernels keep in registers: vectors side by side, and
  // positions, which one address each serves; those of kernels that take data
  // channel by channel, or lane by lane.
  int most_tile_vectors = 3;
  int usual_tile_vectors = 2;  // where no other number is 2 % better
  int most_tile_pixels = 12;
  int per_channel_pixels = 10, by_lane_pixels = 9;
  // What compiles the code loads in order and computes as late as it can: operands
  // of what is written out all lie in registers before the first is used. So a
  // step's channels, or a window's positions, are a loop, and a tile has registers
  // for its operands, too.
  bool loads_first = false;
  double tile_start_cycles = 0.05;  // of a tile, for each of its steps
  // By which a load holds up the multiply-adds of a product, beside which it
  // should cost nothing.
  double row_load_cycles = 0;
  int sum_start_multiply_adds = 3;  // to begin and to put down a sum
  // Of Winograd's algorithm: an entry of a window, product or sum transformed.
  // Of Strassen's: a vector of half the data, of half the outputs, summed.
  double transform_cycles = 5;
  double half_data_cycles = 12, half_output_cycles = 18;

  double memory_bytes_per_second = 2.5e10;  // beyond all caches
  int64_t shared_l3_bytes = 24 << 20;       // of l3, where one core works alone
  int64_t page_bytes = 4096;          // beyond which nothing is fetched ahead
  int64_t stream_bytes_ahead = 2048;  // of weights that are read once
  int l1_ways = 8;
  int64_t l1_way_bytes = 4096;  // addresses so far apart share a set
  // The rate that operands cost which are read again while products are
  // computed: most of the reading hides behind the products.
  double again_l3_bytes_per_second = 4e11;
  double again_memory_bytes_per_second = 6e10;
  double pack_seconds = 8e-10;  // an element, into a kernel's panels

  // What kernels keep near: of l1, the part that a panel of weights takes, and
  // that of a product by rows, whose sums cost more to put down; positions
  // whose products are added up; the most that a thread's scratch has; sums
  // that wait for parts of their images.
  double panel_share = 0.5, product_panel_share = 0.5;
  int64_t position_bytes = 48 << 10;
  int64_t scratch_bytes = 8 << 20;
  int64_t waiting_sum_bytes = 8 << 20;

  // The most that multiply-adds on vectors of a type do.
  double flops_per_second(DType dtype) const {
    return 2.0 * multiply_adds * clock * lanes(dtype);
  }
};

// By the instructions that the target names; a processor of others is one with
// 16 vector registers.
CpuMachine CpuMachineOf(const Target& target);

}  // namespace mxc
