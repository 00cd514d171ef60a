/* SPDX-License-Identifier: Apache-2.0
 *
 * What an emulated kernel and the device that emulates it agree on. C only.
 *
 * A kernel of a device that is compiled for the host instead is a function that
 * computes what one thread does. What it asks of the device it asks of its
 * mxc_emulated_thread; primitives.def says what each function does. */
#ifndef MXC_CODEGEN_CUDA_EMULATED_THREAD_H_
#define MXC_CODEGEN_CUDA_EMULATED_THREAD_H_

#include <stdint.h>

typedef struct mxc_emulated_thread mxc_emulated_thread;
struct mxc_emulated_thread {
  uint32_t thread; /* in its block */
  uint32_t block;  /* in the grid */
  char* shared;    /* memory of the block */
  /* Before each access to global and to shared memory. */
  void (*access)(mxc_emulated_thread*, const void* address, uint32_t bytes,
                 uint32_t alignment);
  void (*barrier)(mxc_emulated_thread*);
  void (*shuffle_xor)(mxc_emulated_thread*, uint32_t* words);
  void (*copy_4)(mxc_emulated_thread*, void* to, const void* from,
                 uint32_t bytes);
  void (*copy_8)(mxc_emulated_thread*, void* to, const void* from,
                 uint32_t bytes);
  void (*copy_16)(mxc_emulated_thread*, void* to, const void* from,
                  uint32_t bytes);
  void (*commit_copies)(mxc_emulated_thread*);
  void (*wait_for_copies)(mxc_emulated_thread*, uint32_t groups);
  void (*load_matrices)(mxc_emulated_thread*, uint32_t* words);
  void (*load_turned_matrices)(mxc_emulated_thread*, uint32_t* words);
  void (*round_to_tf32)(mxc_emulated_thread*, uint32_t* words);
  void (*mma_tf32)(mxc_emulated_thread*, uint32_t* words);
  void (*mma_f32)(mxc_emulated_thread*, uint32_t* words);
  void (*mma_bf16)(mxc_emulated_thread*, uint32_t* words);
  void (*mma_f16)(mxc_emulated_thread*, uint32_t* words);
  void (*shared_address)(mxc_emulated_thread*, uint32_t* words);
  void (*fence_shared)(mxc_emulated_thread*);
  void (*begin_products)(mxc_emulated_thread*);
  void (*commit_products)(mxc_emulated_thread*);
  void (*wgmma_bf16_64)(mxc_emulated_thread*, uint32_t* words);
  void (*wgmma_bf16_128)(mxc_emulated_thread*, uint32_t* words);
  void (*wgmma_f16_64)(mxc_emulated_thread*, uint32_t* words);
  void (*wgmma_f16_128)(mxc_emulated_thread*, uint32_t* words);
  void (*wait_for_products_64)(mxc_emulated_thread*, uint32_t* words);
  void (*wait_for_products_128)(mxc_emulated_thread*, uint32_t* words);
};

/* An object exports one of these for each kernel, under the kernel's name. */
typedef struct mxc_emulated_kernel {
  /* arguments[i] points to the i-th parameter, an address. */
  void (*run)(mxc_emulated_thread*, void* const* arguments);
  uint32_t argument_count;
  uint32_t waits; /* 1: its threads wait for one another */
} mxc_emulated_kernel;

#endif /* MXC_CODEGEN_CUDA_EMULATED_THREAD_H_ */
