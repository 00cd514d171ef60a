// SPDX-License-Identifier: Apache-2.0
// Machine: what estimates know of the machine that is compiled for. Passes and
// codegen choose between kernels, layouts, fusions and task sizes by these
// numbers. What a back end alone asks of its machines stands with the back end
// (codegen/cpu/cpu_machine.h, codegen/cuda/gpu_machine.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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

// An instruction that multiplies and adds more than lanes by lanes do:
//
//   sum[m, n] += Σ k: data[m, k] · weight[k, n]
//
// A catalog that can write it offers kernels for contractions of its types.
struct ProductUnit {
  std::string_view name;    // "vdpbf16ps", "tdpbusd", "mma_bf16", "wgmma_f16"
  DType data, weight, sum;  // of the operands, as they lie in memory
  int m, n, k;
  double flops_per_second;  // the most that it does
  // It drops bits of its operands, and is used only where that is asked for.
  bool rounds = false;

  bool Takes(DType of_data, DType of_weight, DType of_sum) const {
    return data == of_data && weight == of_weight && sum == of_sum;
  }
};

// Times are in seconds, sizes in bytes, rates per second and for one core. The
// values here are those of x86-64 servers: a core at 3 GHz, measured on Zen 3
// and Sapphire Rapids; a target sets what differs.
struct Machine {
  // Vectors.
  int vector_bytes = 16;
  double clock = 3e9;
  double multiply_adds = 2;      // vectors in a cycle
  int multiply_add_latency = 4;  // cycles
  int loads = 2;                 // vectors in a cycle
  OperationCycles cycles;
  std::vector<ProductUnit> products;

  // Caches, and traffic while all cores work: beyond l2, beyond l3, and a
  // core's share while it reads operands and writes results in turn.
  CacheLevel l1 = {32 << 10, 1.3e11};
  CacheLevel l2 = {512 << 10, 1e11};
  CacheLevel l3 = {2 << 20, 6e10};
  double busy_l3_bytes_per_second = 2.7e10;
  double busy_memory_bytes_per_second = 1.5e10;
  double stream_bytes_per_second = 2e10;
  double write_bytes_per_second = 4e10;   // what is not in l2
  double copy_bytes_per_second = 1.2e10;  // between the host and a device
  // The part of the traffic beyond l2 that passes unnoticed, since it is fetched
  // ahead.
  double hidden_traffic = 0.5;
  // The last cache, which all cores share; 0: the machine at hand says it.
  int64_t shared_cache_bytes = 0;

  // Small steps of a device that need no results of each other are launched as
  // one: what one of them, and all together, may read and write. A larger step
  // takes so long that its launch does not count; what a group keeps alive does.
  int64_t grouped_step_bytes = 4 << 20, grouped_bytes = 8 << 20;

  // Tasks that large work is dealt into, so that threads share it evenly, and
  // what one is worth: additions of a reduction that is cut, whose results are
  // computed side by side.
  int tasks = 16;
  double additions_of_task = 65536;
  int results_side_by_side = 8;

  // What steps reach.
  double contraction_flops_per_second = 1e11;  // of a fast kernel, about
  double generic_flops_per_second = 2e9;       // of a contraction's loop nest
  double elements_per_second = 1e10;   // vectorised additions, from memory
  double statements_per_second = 1e9;  // of a procedure
  double transpose_seconds = 5e-10;    // an element, written across its rows
  double launch_seconds = 1e-6;        // to start a step, or a task of it
  double step_seconds = 0;             // of a step, beside its work
  double call_seconds = 1e-8;          // to start a step within a task

  int lanes(DType dtype) const {
    return vector_bytes / static_cast<int>(SizeOf(dtype));
  }
};

}  // namespace mxc
