/* SPDX-License-Identifier: Apache-2.0
 *
 * What an emulated kernel and the device that emulates it agree on. C only.
 *
 * A kernel of a device that is compiled for the host instead is a function that
 * computes what one thread does. What it asks of the device it asks of its
 * mxc_emulated_thread. */
#ifndef MXC_CODEGEN_CUDA_EMULATED_THREAD_H_
#define MXC_CODEGEN_CUDA_EMULATED_THREAD_H_

#include <stdint.h>

typedef struct mxc_emulated_thread mxc_emulated_thread;
struct mxc_emulated_thread {
  uint32_t thread; /* in its block */
  uint32_t block;  /* in the grid */
  /* Before each access to global memory. */
  void (*access)(mxc_emulated_thread*, const void* address, uint32_t bytes,
                 uint32_t alignment);
};

/* An object exports one of these for each kernel, under the kernel's name. */
typedef struct mxc_emulated_kernel {
  /* arguments[i] points to the i-th parameter, an address. */
  void (*run)(mxc_emulated_thread*, void* const* arguments);
  uint32_t argument_count;
  uint32_t reserved;
} mxc_emulated_kernel;

#endif /* MXC_CODEGEN_CUDA_EMULATED_THREAD_H_ */
