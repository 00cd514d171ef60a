/* SPDX-License-Identifier: Apache-2.0
 *
 * mxc_graph: networks that are called like operators, beside mxc_ndarray.h.
 *
 *   mxc_graph* net;
 *   status = mxc_graph_read(symbol_json, &net);
 *   mxc_ndarray *inputs[] = {data, weight}, *output = NULL;
 *   status = mxc_graph_call(net, inputs, 2, &output, 1, 0);
 *
 * Conventions are those of mxc_ndarray.h. A call is compiled for its types, and
 * the code is kept as long as the handle. While a thread records
 * (mxc_autograd.h) a call is one record, whose gradient is the network's.
 */
#ifndef MXC_TOOLS_IMPERATIVE_MXC_GRAPH_H_
#define MXC_TOOLS_IMPERATIVE_MXC_GRAPH_H_

#include "tools/imperative/mxc_ndarray.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most axes of a type. */
#define MXC_GRAPH_AXES 8

typedef struct mxc_graph mxc_graph;

/* MXNet's symbol JSON of any version, which ends with a zero. */
MXC_API mxc_status* mxc_graph_read(const char* symbol_json, mxc_graph** graph);
/* Null is allowed. */
MXC_API void mxc_graph_release(mxc_graph* graph);

/* MXNet's list_arguments, list_auxiliary_states and list_outputs. */
typedef enum {
  MXC_GRAPH_ARGUMENTS = 0,
  MXC_GRAPH_AUXILIARY = 1,
  MXC_GRAPH_OUTPUTS = 2
} mxc_graph_list;

MXC_API size_t mxc_graph_count(const mxc_graph* graph, mxc_graph_list list);
/* Lives as long as the handle; null behind the last one. */
MXC_API const char* mxc_graph_name(const mxc_graph* graph, mxc_graph_list list,
                                   size_t index);

/* As far as it is known. */
typedef struct {
  int32_t dtype;                /* mxc_dtype; -1: not known */
  int32_t rank;                 /* -1: not known */
  int64_t dims[MXC_GRAPH_AXES]; /* 0: not known */
} mxc_partial_type;

/* What follows of the types of inputs and outputs. `inputs`: arguments, then
 * auxiliary states, read and written; `outputs`: written. `partial`: not 0: what
 * does not follow stays unknown; 0: it is an error, and unknown element types are
 * float32. */
MXC_API mxc_status* mxc_graph_infer(const mxc_graph* graph,
                                    mxc_partial_type* inputs,
                                    size_t input_count,
                                    mxc_partial_type* outputs,
                                    size_t output_count, int partial);

/* `inputs`: arguments, then auxiliary states, which a call in training writes.
 * `outputs`, `training`: as mxc_ndarray_op_call. */
MXC_API mxc_status* mxc_graph_call(mxc_graph* graph, mxc_ndarray* const* inputs,
                                   size_t input_count, mxc_ndarray** outputs,
                                   size_t output_count, int training);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXC_TOOLS_IMPERATIVE_MXC_GRAPH_H_ */
