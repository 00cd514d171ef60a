/* SPDX-License-Identifier: Apache-2.0
 *
 * mxc_ndarray: arrays and operators that are called one by one, beside compiled
 * networks, their runs and their parameters. C99; link with libmxc_ndarray,
 * which has runtime/mxc.h's functions, too.
 *
 *   int64_t dims[] = {2, 3};
 *   mxc_ndarray *a, *b, *sum = NULL;
 *   mxc_ndarray_op* add;
 *   status = mxc_ndarray_create(MXC_F32, dims, 2, x, &a);
 *   status = mxc_ndarray_create(MXC_F32, dims, 2, y, &b);
 *   status = mxc_ndarray_op_find("broadcast_add", NULL, NULL, 0, &add);
 *   mxc_ndarray* inputs[] = {a, b};
 *   status = mxc_ndarray_op_call(add, inputs, 2, &sum, 1, 0);
 *   status = mxc_ndarray_read(sum, z, sizeof z);
 *
 * Conventions are those of runtime/mxc.h, and
 * - Order: calls return before they have run. What they compute is what they
 *   would compute one after the other in the order of calls; calls whose arrays
 *   allow it run side by side.
 * - Errors: operators, attributes, types and shapes that do not fit are the
 *   status of the call. What goes wrong in a run is the status of whoever reads
 *   or waits for an array that depends on it, or of mxc_ndarray_wait_all.
 * - Ownership: the caller releases every handle, at any time: what runs keeps
 *   what it needs. Views keep the memory that they share.
 * - Threads: any call from any thread; those of one thread are in its order.
 * - Memory: dense and row-major, on the host. At most 8 axes, none of extent 0.
 * - The first call for operands of new types compiles, in 10 to 30 ms; a process
 *   keeps the code of the 2,048 that it used last.
 * - MXC_ENGINE=naive in the environment: every call runs before it returns.
 *   OMP_NUM_THREADS: how many threads share what is large, before the first such
 *   call; else one for each processor.
 */
#ifndef MXC_TOOLS_IMPERATIVE_MXC_NDARRAY_H_
#define MXC_TOOLS_IMPERATIVE_MXC_NDARRAY_H_

#include "runtime/mxc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Arrays -------------------------------------------------------------- */

typedef struct mxc_ndarray mxc_ndarray;

/* `values`: all elements, which are copied; null: zeros. */
MXC_API mxc_status* mxc_ndarray_create(mxc_dtype dtype, const int64_t* dims,
                                       size_t rank, const void* values,
                                       mxc_ndarray** array);
/* An array over the caller's memory, dense, row-major and aligned to its elements.
 * `release` (may be null) is called with `context` when nothing uses it any more,
 * from any thread; at once, where the call fails. */
MXC_API mxc_status* mxc_ndarray_over(mxc_dtype dtype, const int64_t* dims,
                                     size_t rank, void* elements,
                                     void (*release)(void* context),
                                     void* context, mxc_ndarray** array);
/* Null is allowed. */
MXC_API void mxc_ndarray_release(mxc_ndarray* array);

MXC_API mxc_dtype mxc_ndarray_dtype(const mxc_ndarray* array);
MXC_API size_t mxc_ndarray_rank(const mxc_ndarray* array);
/* As many as it has axes; they live as long as the handle. */
MXC_API const int64_t* mxc_ndarray_dims(const mxc_ndarray* array);
MXC_API uint64_t mxc_ndarray_bytes(const mxc_ndarray* array);

/* Views: other handles of the same memory. What is written to one is there in
 * the other. */
MXC_API mxc_status* mxc_ndarray_reshape(const mxc_ndarray* array,
                                        const int64_t* dims, size_t rank,
                                        mxc_ndarray** view);
/* Rows from `begin` to before `end` of the first axis. */
MXC_API mxc_status* mxc_ndarray_slice(const mxc_ndarray* array, int64_t begin,
                                      int64_t end, mxc_ndarray** view);

/* All elements; `size` is the array's bytes. Both wait for what was called
 * before, and are done when they return. */
MXC_API mxc_status* mxc_ndarray_read(const mxc_ndarray* array, void* values,
                                     size_t size);
MXC_API mxc_status* mxc_ndarray_write(mxc_ndarray* array, const void* values,
                                      size_t size);
/* The elements where they lie, waited for as mxc_ndarray_read does, or, `writes`
 * not 0, as mxc_ndarray_write. They live as long as a handle of their memory, and
 * are the caller's until a call takes the array. */
MXC_API mxc_status* mxc_ndarray_map(const mxc_ndarray* array, int writes,
                                    void** elements);
/* `to` becomes `from`, of the same type and shape; in its turn. */
MXC_API mxc_status* mxc_ndarray_copy(const mxc_ndarray* from, mxc_ndarray* to);

/* In its turn the array's value is gone, and whoever asks for it is told this
 * sentence: a call that could not be made, told as one that failed when it ran. */
MXC_API mxc_status* mxc_ndarray_fail(mxc_ndarray* array, const char* sentence);

/* Until the array has its value; what went wrong on the way to it. */
MXC_API mxc_status* mxc_ndarray_wait(const mxc_ndarray* array);
/* Until nothing is left to do; the first thing that went wrong and that nobody
 * was told. */
MXC_API mxc_status* mxc_ndarray_wait_all(void);

/* ---- Loops --------------------------------------------------------------- */

/* Calls that come again in the same order, a loop that trains for one, are
 * compiled as one program, without being asked for, from their third turn on; in
 * it values do not exist that nobody has any more. It gives what the calls give.
 * Calls that take less than a microsecond each stay calls.
 *
 * What became of such calls, as JSON: a list, the last used first, of {"calls":
 * [{"call": "FullyConnected(float32[64,128], …)", "line": "train.py:12"}, …],
 * "outcome": "program", or why they are none, "runs": how often the program ran}.
 * The text lives until the thread's next call of this function. */
MXC_API mxc_status* mxc_ndarray_explain(const char** json);
/* The "line" of the thread's next calls, as a language's interface knows it, and
 * whether somebody will read it. It is copied; null: not known. */
MXC_API int mxc_ndarray_asks_for_line(void);
MXC_API void mxc_ndarray_set_line(const char* line);

/* ---- Operators ----------------------------------------------------------- */

/* An operator and its attributes, as MXNet names and writes them. */
typedef struct mxc_ndarray_op mxc_ndarray_op;

MXC_API mxc_status* mxc_ndarray_op_find(const char* name,
                                        const char* const* attribute_names,
                                        const char* const* attribute_values,
                                        size_t attribute_count,
                                        mxc_ndarray_op** op);
/* Null is allowed. */
MXC_API void mxc_ndarray_op_release(mxc_ndarray_op* op);

/* `outputs`: `output_count` handles, one for each output that other nodes of a
 * network could read, or fewer: the others are computed and dropped. A null one
 * becomes a new array; another is written, and may be one of the inputs or a view
 * of one. Inputs that the operator itself updates are written (sgd_mom_update's
 * "mom"). `training`: not 0: as in a training step (Dropout, BatchNorm). */
MXC_API mxc_status* mxc_ndarray_op_call(mxc_ndarray_op* op,
                                        mxc_ndarray* const* inputs,
                                        size_t input_count,
                                        mxc_ndarray** outputs,
                                        size_t output_count, int training);

/* The operators, as `mxc ops --json` prints them; lives as long as the process. */
MXC_API const char* mxc_ndarray_ops(void);

/* What an operator with these attributes takes and gives, as JSON: "inputs", each
 * with "name" and "kind" ("data", "parameter", "label" or "state": written by a
 * call in training), "outputs" and "visible_outputs", how many of these a call
 * gives. `input_count`: how many inputs there are, for operators of any number.
 * The text lives until the thread's next call of this function. `visible_outputs`
 * is the same number, or null. */
MXC_API mxc_status* mxc_ndarray_op_signature(
    const char* name, const char* const* attribute_names,
    const char* const* attribute_values, size_t attribute_count,
    size_t input_count, const char** json, size_t* visible_outputs);

/* What operators draw from now on (Dropout, uniform) follows from the seed and
 * from the order of their calls. */
MXC_API mxc_status* mxc_ndarray_seed(uint64_t seed);

/* ---- Compiled networks --------------------------------------------------- */

/* An entry of a model whose runs are calls. */
typedef struct mxc_program mxc_program;

/* Binds the entry as mxc_bind does; of the options the device is the CPU, and
 * `share` is null. `share`: a program of the same model whose states it shares;
 * may be null. */
MXC_API mxc_status* mxc_program_bind(mxc_model* model,
                                     const mxc_bind_options* options,
                                     const mxc_program* share,
                                     mxc_program** program);
/* Null is allowed. */
MXC_API void mxc_program_release(mxc_program* program);

/* Inputs in the order of the entry's, all of them; outputs as above. Runs of one
 * program, and of those that share its states, come one after the other. */
MXC_API mxc_status* mxc_program_call(mxc_program* program,
                                     mxc_ndarray* const* inputs,
                                     size_t input_count, mxc_ndarray** outputs,
                                     size_t output_count);

/* A parameter, or what else lives from run to run, where the runs find it. */
MXC_API mxc_status* mxc_program_state(const mxc_program* program,
                                      const char* name, mxc_ndarray** array);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXC_TOOLS_IMPERATIVE_MXC_NDARRAY_H_ */
