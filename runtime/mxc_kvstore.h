/* SPDX-License-Identifier: Apache-2.0
 *
 * A KVStore: parameters by key, that the devices of a process or the processes
 * of a job train together. C99; link with libmxc_runtime. Conventions are those
 * of mxc.h.
 *
 *   const mxc_kvstore_key keys[] = {{"weight", 1000}, {"bias", 10}};
 *   mxc_kvstore_options options = MXC_KVSTORE_OPTIONS;
 *   options.kvstore = "dist_sync";
 *   options.keys = keys;
 *   options.key_count = 2;
 *   options.workers = 2;
 *   options.servers = "10.0.0.1:4711";
 *   options.rank = rank;
 *   options.key_file = "worker-0.key";
 *   mxc_kvstore* store;
 *   status = mxc_kvstore_open(&options, &store);
 *   if (rank == 0) status = mxc_kvstore_init(store, 0, weight);
 *   for (…) {
 *     status = mxc_kvstore_push(store, 0, &gradient, 1, 0);
 *     status = mxc_kvstore_pull(store, 0, &weight, 1, 0);
 *     status = mxc_kvstore_wait(store, 0);
 *   }
 *   status = mxc_kvstore_finish(store);
 *   mxc_kvstore_close(store);
 *
 * Each server of the job is a process that calls mxc_kvstore_serve with the
 * same keys and settings. Under `mxc launch` a process finds in its environment
 * what it is: MXC_ROLE, RANK, WORLD_SIZE, MXC_SERVERS, MXC_LISTEN, MXC_KEY.
 *
 * A key is a number, its place in `keys`. Values and gradients are float32; a
 * pointer stands for each device, in their order. Gradients of devices are added
 * in the process, to the bit as MXNet adds them on a CPU, then those of workers
 * on the server, in the order of ranks.
 */
#ifndef MXC_RUNTIME_MXC_KVSTORE_H_
#define MXC_RUNTIME_MXC_KVSTORE_H_

#include "runtime/mxc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mxc_kvstore mxc_kvstore;

typedef struct mxc_kvstore_key {
  const char* name;  /* in messages, and alike in all processes */
  uint64_t elements; /* more than 0 */
} mxc_kvstore_key;

/* Changes elements of a key's value by their gradient. Both pointers are to
 * element `first`, of `count`: the whole key, or this server's part of it. Of a
 * key that is row-sparse: of rows that lie side by side and were all pushed;
 * rows that nobody pushed are left alone (MXNet's lazy_update). */
typedef void (*mxc_kvstore_updater)(void* user_data, uint32_t key,
                                    uint64_t first, uint64_t count,
                                    const float* gradient, float* value,
                                    double learning_rate);

typedef struct mxc_kvstore_options {
  size_t struct_size;
  /* "local", "device": in this process. "dist_sync": a key is updated once all
   * workers have pushed; "dist_async": by each push; "dist_ssp": so, too, and no
   * worker gets a value that lacks more than `staleness` pushes of another.
   * "allreduce": workers sum among themselves, and each has the values and makes
   * the same updates; all push the same keys in the same order, none of them
   * row-sparse. Servers have the first values and introduce the workers, for
   * whom mxc_kvstore_open waits. Needs libmxc_gloo.so beside libmxc_runtime. */
  const char* kvstore;
  const mxc_kvstore_key* keys;
  uint32_t key_count;

  /* Where values are: in a local store, on servers, with "allreduce" on
   * workers. Null: a value is what was pushed last. */
  mxc_kvstore_updater updater;
  void* user_data;

  /* Of a job, alike in all its processes. */
  uint32_t workers;
  const char* servers; /* addresses, separated by commas: "10.0.0.1:4711",
                              "unix:/run/job/server-0" */
  uint32_t staleness;
  int mean; /* not 0: dist_sync and allreduce update by the mean */
  const char* compression; /* of gradients: null or "none", "f16",
                              "2bit:threshold=0.5", "1bit:threshold=0",
                              "1bit_cntk" */
  uint64_t cut_from;       /* keys of so many elements or more are cut into a
                              part for each server; 0: of 1,000,000 */

  /* Of this process. */
  uint32_t rank;        /* among the workers, or among the servers */
  const char* key_file; /* its key, of mode 0600. Null: in the clear, and only
                           on this machine */
  const char* listen;   /* a server's; null: its address in `servers` */

  /* By key, alike in all processes: the elements of a row, where gradients are
   * of some rows alone (row-sparse), or 0. Null: there is no such key. */
  const uint64_t* widths;
} mxc_kvstore_options;

#define MXC_KVSTORE_OPTIONS     \
  {sizeof(mxc_kvstore_options), \
   NULL,                        \
   NULL,                        \
   0,                           \
   NULL,                        \
   NULL,                        \
   1,                           \
   NULL,                        \
   0,                           \
   0,                           \
   NULL,                        \
   0,                           \
   0,                           \
   NULL,                        \
   NULL,                        \
   NULL}

/* What `options` points to is copied. A store is used by one thread at a time. */
MXC_API mxc_status* mxc_kvstore_open(const mxc_kvstore_options* options,
                                     mxc_kvstore** store);
/* A worker that closes without mxc_kvstore_finish is lost for the others. Null
 * is allowed. */
MXC_API void mxc_kvstore_close(mxc_kvstore* store);

/* The key's first value; once, in a job by the worker of rank 0. */
MXC_API mxc_status* mxc_kvstore_init(mxc_kvstore* store, uint32_t key,
                                     const float* value);
/* Both begin, and return; until mxc_kvstore_wait of the key the arrays are read,
 * or written. A pull gives what the pushes before it have made. Smaller
 * priorities come first. */
MXC_API mxc_status* mxc_kvstore_push(mxc_kvstore* store, uint32_t key,
                                     const float* const* gradients,
                                     uint32_t devices, int64_t priority);
MXC_API mxc_status* mxc_kvstore_pull(mxc_kvstore* store, uint32_t key,
                                     float* const* values, uint32_t devices,
                                     int64_t priority);
/* The same of a row-sparse key: `rows[i]` are the numbers of `counts[i]` rows,
 * whose elements device i has in `gradients[i]` or wants in `values[i]`, one row
 * behind the other. Numbers come in any order; equal ones are added, or given
 * twice. Their arrays are copied. Values are initialized as of any key, and
 * mxc_kvstore_pull gives all rows. */
MXC_API mxc_status* mxc_kvstore_push_rows(mxc_kvstore* store, uint32_t key,
                                          const uint64_t* const* rows,
                                          const uint64_t* counts,
                                          const float* const* gradients,
                                          uint32_t devices, int64_t priority);
MXC_API mxc_status* mxc_kvstore_pull_rows(mxc_kvstore* store, uint32_t key,
                                          const uint64_t* const* rows,
                                          const uint64_t* counts,
                                          float* const* values,
                                          uint32_t devices, int64_t priority);
MXC_API mxc_status* mxc_kvstore_wait(mxc_kvstore* store, uint32_t key);
/* What updaters are told with each push from now on; 1 at first. */
MXC_API void mxc_kvstore_set_learning_rate(mxc_kvstore* store, double rate);
/* Of a job: this worker has done all; the servers go on without it. */
MXC_API mxc_status* mxc_kvstore_finish(mxc_kvstore* store);

/* This process is server `rank` until all workers have finished. */
MXC_API mxc_status* mxc_kvstore_serve(const mxc_kvstore_options* options);

#ifdef __cplusplus
}
#endif

#endif /* MXC_RUNTIME_MXC_KVSTORE_H_ */
