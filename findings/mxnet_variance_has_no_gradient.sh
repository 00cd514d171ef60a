#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: MXNet 1.9.1 with NumPy 1.23.5, from PyPI
# expected: autograd takes mx.np.var and mx.np.std for what they are: the
#   gradient of var is 2·(x - mean) / n
# seen: their gradients are 0 everywhere, without a warning, so that a loss or a
#   normalization made of them trains, and learns nothing from them. The same
#   variance written by mx.np.mean has its gradient.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python mxnet==1.9.1 numpy==1.23.5
seen=$(run_python <<'END'
import mxnet

mxnet.npx.set_np()


def gradient(function):
    x = mxnet.np.array([1.0, 2.0, 6.0])
    x.attach_grad()
    with mxnet.autograd.record():
        y = function(x)
    y.backward()
    return " ".join(f"{each:g}" for each in x.grad.asnumpy())


print("var:", gradient(mxnet.np.var))
print("std:", gradient(mxnet.np.std))
print("mean:", gradient(lambda x: ((x - x.mean()) ** 2).mean()))
END
)
same "$seen" "var: 0 0 0
std: 0 0 0
mean: -1.33333 -0.666667 2"
