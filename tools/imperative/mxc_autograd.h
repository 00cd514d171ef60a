/* SPDX-License-Identifier: Apache-2.0
 *
 * mxc_autograd: gradients of what was called, beside mxc_ndarray.h. Calls made
 * while a thread records are noted; a backward call computes what these notes
 * say, by the rules of the operators, as one compiled program.
 *
 *   status = mxc_autograd_mark(x, x_gradient, MXC_GRADIENT_WRITE);
 *   mxc_autograd_set_recording(1);
 *   status = mxc_ndarray_op_call(square, &x, 1, &y, 1, 0);
 *   mxc_autograd_set_recording(0);
 *   status = mxc_autograd_backward(&y, NULL, 1, 0);
 *   status = mxc_ndarray_read(x_gradient, values, sizeof values);
 *
 * Conventions are those of mxc_ndarray.h, and
 * - What is recorded belongs to handles: a marked handle, and those that recorded
 *   calls gave out. Another handle of the same memory (mxc_ndarray_detach, or a
 *   view made while the thread does not record) is a constant.
 * - Values: a gradient is that of the values which were recorded. One that needs
 *   a value which was overwritten since is refused, and so is a call that writes
 *   a recorded array while it records.
 * - Threads: each has its own flags, at first 0. A handle is used by one thread
 *   at a time.
 */
#ifndef MXC_TOOLS_IMPERATIVE_MXC_AUTOGRAD_H_
#define MXC_TOOLS_IMPERATIVE_MXC_AUTOGRAD_H_

#include "tools/imperative/mxc_ndarray.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Flags of the calling thread ----------------------------------------- */

/* What it was before. `training` is a note for callers alone, who say in each
 * call how it is to compute. */
MXC_API int mxc_autograd_set_recording(int recording);
MXC_API int mxc_autograd_set_training(int training);
MXC_API int mxc_autograd_is_recording(void);
MXC_API int mxc_autograd_is_training(void);

/* ---- Variables ----------------------------------------------------------- */

/* What a backward call does with a variable's gradient. */
typedef enum {
  MXC_GRADIENT_NULL = 0,  /* nothing: the array is a constant */
  MXC_GRADIENT_WRITE = 1, /* writes it into the gradient array */
  MXC_GRADIENT_ADD = 3    /* adds it to the gradient array */
} mxc_gradient_request;

/* Makes the array a variable, of which nothing was recorded. `gradient`: of the
 * array's type; null where nothing is done with it. */
MXC_API mxc_status* mxc_autograd_mark(mxc_ndarray* array,
                                      const mxc_ndarray* gradient,
                                      mxc_gradient_request request);
/* Whether the handle is a variable or the result of a recorded call. */
MXC_API int mxc_autograd_is_recorded(const mxc_ndarray* array);
/* Whether a backward call has computed the variable's gradient since it was
 * marked, or since somebody set this; 0 of what is no variable. */
MXC_API int mxc_autograd_is_fresh(const mxc_ndarray* array);
MXC_API void mxc_autograd_set_fresh(mxc_ndarray* array, int fresh);
/* Another handle of the same memory, which is a constant. */
MXC_API mxc_status* mxc_ndarray_detach(const mxc_ndarray* array,
                                       mxc_ndarray** view);

/* Another handle of the same memory, recorded as the array is. */
MXC_API mxc_status* mxc_ndarray_another(const mxc_ndarray* array,
                                        mxc_ndarray** handle);

/* ---- Gradients ----------------------------------------------------------- */

/* The gradients of the sum of all heads, each multiplied by its head gradient,
 * for every variable that they were computed from. `head_gradients`: one for each
 * head, of its type; null, or a null one: ones. Loss heads (SoftmaxOutput) ignore
 * theirs. `retain_graph`: 0: what was recorded is gone afterwards. */
MXC_API mxc_status* mxc_autograd_backward(mxc_ndarray* const* heads,
                                          mxc_ndarray* const* head_gradients,
                                          size_t head_count, int retain_graph);

/* The same for these variables or recorded arrays alone, as new arrays; gradient
 * arrays of variables stay as they are. `create_graph`: not 0: the computation of
 * the gradients is recorded itself, and so is what it reads. */
MXC_API mxc_status* mxc_autograd_gradient(
    mxc_ndarray* const* heads, mxc_ndarray* const* head_gradients,
    size_t head_count, mxc_ndarray* const* variables, size_t variable_count,
    int retain_graph, int create_graph, mxc_ndarray** gradients);

/* ---- Functions of the user's own ----------------------------------------- */

/* Gives the gradients of the inputs, as new handles, which become the library's;
 * null: there is none. `head_gradients`: one for each output, which stay the
 * library's. Called by the thread that asks for the gradient; it does not record
 * then unless it creates a graph. Null for success, else mxc_autograd_failure. */
typedef mxc_status* (*mxc_autograd_function)(void* user,
                                             mxc_ndarray* const* head_gradients,
                                             size_t output_count,
                                             mxc_ndarray** input_gradients,
                                             size_t input_count);

/* Records that the outputs were computed from the inputs by a function with this
 * gradient; nothing, where the thread does not record or no input is recorded.
 * `release` (may be null) is called with `user` once the function is no longer
 * needed, at once where nothing was recorded or the call fails. */
MXC_API mxc_status* mxc_autograd_record(
    mxc_ndarray* const* inputs, size_t input_count, mxc_ndarray* const* outputs,
    size_t output_count, mxc_autograd_function gradient, void* user,
    void (*release)(void* user));

/* A status for such a function to return. */
MXC_API mxc_status* mxc_autograd_failure(const char* message);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXC_TOOLS_IMPERATIVE_MXC_AUTOGRAD_H_ */
