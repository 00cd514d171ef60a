// SPDX-License-Identifier: Apache-2.0
// Machine: what estimates know of the machine that is compiled for. Passes and
// codegen choose between kernels, layouts, fusions and task sizes by these
// numbers; no other file names a clock, a rate, a cache or a register.
#pragma once

#include <cstdint>

#include "ir/graph/tensor.h"

namespace mxc {

struct CacheLevel {
  int64_t bytes;  // that one core has of it
  // One core by itself, in bytes per second.
  double bytes_per_second;
};

// Between addresses that two cores can write without waiting for each other.
inline constexpr int kLineBytes = 64;

// What operations on one element cost, in vectorised additions: the measure by
// which passes weigh expressions, the same for all machines.
struct OperationWeights {
  double memory = 2;  // an element read or written
  double divide = 4, root = 4;
  double rounding = 3;  // of several instructions
  double function = 16, power = 32;
};
inline constexpr OperationWeights kOperationWeights;

// Cycles of one vector.
struct OperationCycles {
  double simple = 1, load = 2;
  double index = 0.5;  // of 64-bit integers
  double divide = 6, root = 8;
  double function = 20;  // exp, log, tanh, erf
  double library = 80;   // other functions, powers, remainders
};

// The part of the most that a core can compute which kinds of kernels reach.
struct KernelRates {
  double planes = 0.97;        // products of matrices, one after the other
  double few_channels = 0.85;  // products of few channels
  double widening = 0.6;       // data widened as it is read
  double row_major = 0.7;      // data in short, strided pieces
  double few_inputs = 1.02;    // few channels of data: such pieces are as good
  double depthwise = 0.5, grouped = 0.7, by_lane = 0.5;
};

// Times are in seconds, sizes in bytes, rates per second and for one core. The
// values here are those of x86-64 servers: a core at 3 GHz, measured on Zen 3
// and Sapphire Rapids; a target sets what differs.
struct Machine {
  // Vectors.
  int vector_bytes = 16;
  int vector_registers = 16;
  double clock = 3e9;
  int multiply_adds = 2;         // vectors in a cycle
  int loads = 2;                 // likewise
  int multiply_add_latency = 4;  // cycles
  // An instruction reads an element of memory into all lanes and multiplies, so
  // that the element takes no register.
  bool multiplies_by_memory = false;
  // Vectors of this size take twice as long as their halves where units are
  // half as wide, and never less.
  int split_vector_bytes = 64;
  OperationCycles cycles;
  KernelRates rates;

  // Tiles of sums that kernels keep in registers: vectors side by side, and
  // positions, which one address each serves; those of kernels that take data
  // channel by channel, or lane by lane.
  int most_tile_vectors = 3;
  int most_tile_pixels = 12;
  int per_channel_pixels = 10, by_lane_pixels = 9;
  double tile_start_cycles = 0.05;  // of a tile, for each of its steps
  int sum_start_multiply_adds = 3;  // to begin and to put down a sum
  // Of Winograd's algorithm: an entry of a window, product or sum transformed.
  // Of Strassen's: a vector of half the data, of half the outputs, summed.
  double transform_cycles = 5;
  double half_data_cycles = 12, half_output_cycles = 18;

  // How much faster than multiply-adds of f32 instructions multiply that add the
  // products of two pairs of bf16 to a sum of f32; 0: there are none.
  double pair_products = 0;

  // A unit that multiplies tiles of bf16 and adds to tiles of f32, such as
  // Intel's AMX: rows of a tile, 0 without one, and what it does at most.
  int tile_rows = 0;
  double tile_flops_per_second = 0;

  // Caches, and the rate of what lies beyond all of them.
  CacheLevel l1 = {32 << 10, 1.3e11};
  CacheLevel l2 = {512 << 10, 1e11};
  CacheLevel l3 = {2 << 20, 6e10};
  double memory_bytes_per_second = 2.5e10;
  int64_t shared_l3_bytes = 24 << 20;  // of l3, where one core works alone
  int line_bytes = kLineBytes;
  int64_t page_bytes = 4096;  // beyond which nothing is fetched ahead
  int l1_ways = 8;
  int64_t l1_way_bytes = 4096;  // addresses so far apart share a set
  // The same while all cores work, and a core's share of the traffic while it
  // reads operands and writes results in turn.
  double busy_l3_bytes_per_second = 2.7e10;
  double busy_memory_bytes_per_second = 1.5e10;
  double stream_bytes_per_second = 2e10;
  double write_bytes_per_second = 4e10;  // what is not in l2
  // The rate that operands cost which are read again while products are
  // computed: most of the reading hides behind the products.
  double again_l3_bytes_per_second = 4e11;
  double again_memory_bytes_per_second = 6e10;

  double copy_bytes_per_second = 1.2e10;  // between the host and a device

  // The part of the traffic beyond l2 that passes unnoticed, since it is fetched
  // ahead.
  double hidden_traffic = 0.5;
  // What kernels keep near: of l1, the part that a panel of weights takes;
  // positions whose products are added up; the most that a thread's scratch
  // has; sums that wait for parts of their images.
  double panel_share = 0.5;
  int64_t position_bytes = 48 << 10;
  int64_t scratch_bytes = 8 << 20;
  int64_t waiting_sum_bytes = 8 << 20;

  // Of a device; each has its own units, and threads that share them.
  int64_t multiprocessors = 0;
  // Four warps of a device multiply matrices together (wgmma).
  bool warpgroup_products = false;
  // Small steps of a device that need no results of each other are launched as
  // one: what one of them, and all together, may read and write. A larger step
  // takes so long that its launch does not count; what a group keeps alive does.
  int64_t grouped_step_bytes = 4 << 20, grouped_bytes = 8 << 20;

  // Tasks that large work is dealt into, so that threads share it evenly, and
  // what one is worth: elements that are scattered, additions of a reduction
  // that is cut, whose results are computed side by side.
  int tasks = 16;
  int64_t scattered_elements_of_task = 32768;
  double additions_of_task = 65536;
  int results_side_by_side = 8;

  // What steps reach.
  double contraction_flops_per_second = 1e11;  // of a fast kernel, about
  double generic_flops_per_second = 2e9;       // of a contraction's loop nest
  double elements_per_second = 1e10;   // vectorised additions, from memory
  double statements_per_second = 1e9;  // of a procedure
  double pack_seconds = 8e-10;         // an element, into a kernel's panels
  double transpose_seconds = 5e-10;    // an element, written across its rows
  double launch_seconds = 1e-6;        // to start a step, or a task of it
  double step_seconds = 0;             // of a step, beside its work
  double call_seconds = 1e-8;          // to start a step within a task

  int lanes(DType dtype) const {
    return vector_bytes / static_cast<int>(SizeOf(dtype));
  }
  // The most that multiply-adds on vectors of a type do.
  double flops_per_second(DType dtype) const {
    return 2.0 * multiply_adds * clock * lanes(dtype);
  }
};

}  // namespace mxc
