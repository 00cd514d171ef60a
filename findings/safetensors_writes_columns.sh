#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: safetensors 0.8.0 with NumPy 2.4.6, from PyPI
# expected: an array that lies in memory by columns (a transposed weight does)
#   is saved with its elements in the order of its shape, or refused
# seen: the bytes are written as they lie, under the array's shape. What is
#   loaded has the right shape and other elements, and nothing tells of it.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python safetensors==0.8.0 numpy==2.4.6
seen=$(cd "$folder" && run_python <<'END'
import numpy
from safetensors.numpy import load_file, save_file

weight = numpy.array([[0, 1, 2], [3, 4, 5]], dtype=numpy.float32)
by_columns = numpy.asfortranarray(weight)
assert (by_columns == weight).all()
save_file({"weight": by_columns}, "columns.safetensors")
save_file({"weight": numpy.ascontiguousarray(by_columns)}, "rows.safetensors")
for name in "columns", "rows":
    print(*load_file(name + ".safetensors")["weight"].ravel().astype(int))
END
)
same "$seen" "0 3 1 4 2 5
0 1 2 3 4 5"
