// SPDX-License-Identifier: Apache-2.0
// Machine: what estimates know of the machine that is compiled for. Passes and
// codegen choose between kernels, layouts, fusions and task sizes by these
// numbers; no other file names a clock, a rate or a cache.
#pragma once

#include <cstdint>

#include "ir/graph/tensor.h"

namespace mxc {

struct CacheLevel {
  int64_t bytes;  // that one core has of it
  // One core by itself, in bytes per second.
  double bytes_per_second;
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
  int line_bytes = 64;
  int l1_ways = 8;
  int64_t l1_way_bytes = 4096;  // addresses so far apart share a set
  // The same where all cores work; and a core's share of the traffic when it
  // reads operands and writes results in turn.
  double busy_l3_bytes_per_second = 2.7e10;
  double busy_memory_bytes_per_second = 1.5e10;
  double stream_bytes_per_second = 2e10;
  double write_bytes_per_second = 4e10;  // what is not in l2
  // What is read once more while products are computed: the rate at which it
  // costs time beside them.
  double again_l3_bytes_per_second = 4e11;
  double again_memory_bytes_per_second = 6e10;

  double copy_bytes_per_second = 1.2e10;  // between the host and a device

  // Tasks that large work is dealt into, so that threads share it evenly.
  int tasks = 16;

  // What steps reach.
  double contraction_flops_per_second = 1e11;  // of a fast kernel, about
  double generic_flops_per_second = 2e9;       // of a contraction's loop nest
  double elements_per_second = 1e10;   // vectorised additions, from memory
  double statements_per_second = 1e9;  // of a procedure
  double pack_seconds = 8e-10;         // an element, into a kernel's panels
  double transpose_seconds = 5e-10;    // an element, written across its rows
  double launch_seconds = 1e-6;        // to start a step, or a task of it
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
