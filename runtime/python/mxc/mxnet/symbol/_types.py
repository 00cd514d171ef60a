# SPDX-License-Identifier: Apache-2.0
"""Numbers that variables' attributes hold for types."""

# Types by MXNet's number, as variables' `__dtype__` holds it.
DTYPE_NUMBERS = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3,
                 "int32": 4, "int8": 5, "int64": 6, "bool": 7, "int16": 8,
                 "uint16": 9, "uint32": 10, "uint64": 11, "bfloat16": 12}
DTYPE_NAMES = {number: name for name, number in DTYPE_NUMBERS.items()}
STORAGE_NUMBERS = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
