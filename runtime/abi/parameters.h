/* SPDX-License-Identifier: Apache-2.0
 *
 * How a device's kernel is handed its operands. C only.
 *
 * Each operand's address is a parameter, and that of the scratch the last one.
 * Kernels with more than MXC_MOST_PARAMETERS operands have one parameter: where
 * a table of those addresses begins, in memory of the device. PTX has room for
 * 4,096 bytes of parameters before its version 8.1. */
#ifndef MXC_RUNTIME_ABI_PARAMETERS_H_
#define MXC_RUNTIME_ABI_PARAMETERS_H_

enum { MXC_MOST_PARAMETERS = 500 };

#endif /* MXC_RUNTIME_ABI_PARAMETERS_H_ */
