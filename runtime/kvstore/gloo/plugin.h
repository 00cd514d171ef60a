/* SPDX-License-Identifier: Apache-2.0 */
/* libmxc_gloo.so: gloo's collectives over somebody else's connections. A
 * library of its own, loaded by workers that need it, so that programs start on
 * machines without gloo. No exception leaves it. */
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/* `error`: null, or a sentence, until it returns. */
typedef void (*mxc_mesh_done)(void* argument, const char* error);

/* Messages between workers (mesh.h). Either calls `done` once, from any thread;
 * until then the bytes are read, or written. All fail once one has. */
struct mxc_mesh {
  void* self;
  int32_t rank, workers;
  void (*send)(void* self, int32_t to, uint64_t slot, const void* bytes,
               uint64_t size, mxc_mesh_done done, void* argument);
  void (*receive)(void* self, int32_t from, uint64_t slot, void* bytes,
                  uint64_t size, mxc_mesh_done done, void* argument);
};

struct mxc_gloo;

/* The mesh must outlive it. Null, and a sentence, if it cannot be made. */
__attribute__((visibility("default"))) mxc_gloo* mxc_gloo_open(
    const mxc_mesh* mesh, char* error, size_t error_size);
__attribute__((visibility("default"))) void mxc_gloo_close(mxc_gloo* gloo);

/* `values` become their sum over all workers, of equal bytes on all: gloo's
 * ring, whose order depends on the number of workers and of values alone. All
 * workers make the same calls in the same order. 0, or 1 and a sentence. */
__attribute__((visibility("default"))) int mxc_gloo_sum(mxc_gloo* gloo,
                                                        float* values,
                                                        uint64_t count,
                                                        char* error,
                                                        size_t error_size);

} /* extern "C" */
