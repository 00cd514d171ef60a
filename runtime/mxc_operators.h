/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that networks name and that a program or a shared library computes:
 * what MXNet's Custom is to Python. C99; conventions are those of mxc.h, and so
 * are the libraries to link. A shared library of operators needs none.
 */
#ifndef MXC_RUNTIME_MXC_OPERATORS_H_
#define MXC_RUNTIME_MXC_OPERATORS_H_

#include "runtime/mxc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of operands, in the order in which functions see them. */
typedef enum mxc_operand {
  MXC_ARGUMENT = 0, /* list_arguments */
  MXC_OUTPUT = 1,   /* list_outputs */
  MXC_STATE = 2     /* list_auxiliary_states */
} mxc_operand;

/* A tensor's type, as far as it is known. */
typedef struct mxc_type {
  int dtype;       /* mxc_dtype; -1: unknown */
  int rank;        /* -1: unknown */
  int64_t dims[8]; /* 0: unknown */
} mxc_type;

/* What Python's CustomOpProp and CustomOp say of an op_type. `attributes` are
 * those that a node has beside op_type, each a line "name=value\n"; those that
 * the two functions see begin with the line "is_train=1" or "is_train=0".
 * Functions are asked from any thread, and answer the same whenever they are. */
typedef struct mxc_operator {
  size_t struct_size; /* sizeof(mxc_operator) */
  const char* name;   /* op_type */
  uint32_t version;   /* of the two functions */
  /* Not 0: a loss head, whose backward does not read its gradients
   * (need_top_grad=False). Training reports the mean of its first output; where
   * nothing is trained its labels are zeros. */
  int loss;
  void* user_data;
  /* The name of an operand; null behind the last. It is copied before the next
   * call. An argument …label is one, …weight, …bias, …gamma and …beta are
   * parameters. Null: one argument "data", one output "output". */
  const char* (*list)(const struct mxc_operator* op, const char* attributes,
                      mxc_operand kind, size_t index);
  /* Completes what follows of the types of arguments, outputs and states, in
   * this order. The shape of the first argument is known, its dtype may not be
   * yet; what is not known of the others may follow from them. Returns null, or
   * why there are no types, a sentence. Null: every output is as the first
   * argument. */
  const char* (*infer)(const struct mxc_operator* op, const char* attributes,
                       mxc_type* types, size_t count);
  /* arguments, states → outputs, next states (what the states become in runs
   * that train). */
  mxc_function forward;
  /* gradients of outputs, arguments, outputs, next states → gradients of
   * arguments, all of which are written. Null: no gradient passes. */
  mxc_function backward;
} mxc_operator;

/* Networks that are read from now on find the operator by its name, which is
 * copied, and artifacts made of them its functions: `forward` as NAME, `backward`
 * as NAME_backward (mxc_register_function). */
MXC_API mxc_status* mxc_register_operator(const mxc_operator* op);

/* A shared library of operators exports, beside mxc_functions or without it,
 *
 *   mxc_status* mxc_operators(mxc_operator_registrar add);
 */
typedef mxc_status* (*mxc_operator_registrar)(const mxc_operator* op);

/* Where the text of an attribute begins, which a line break or the end of the
 * text follows; null where it is not there. */
static inline const char* mxc_attribute(const char* attributes,
                                        const char* name) {
  while (*attributes != '\0') {
    const char *line = attributes, *wanted = name;
    while (*wanted != '\0' && *line == *wanted) ++line, ++wanted;
    if (*wanted == '\0' && *line == '=') return line + 1;
    while (*line != '\0' && *line != '\n') ++line;
    attributes = *line == '\n' ? line + 1 : line;
  }
  return NULL; /* NOLINT(modernize-use-nullptr): C has none */
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXC_RUNTIME_MXC_OPERATORS_H_ */
