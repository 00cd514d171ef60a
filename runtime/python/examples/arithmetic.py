# SPDX-License-Identifier: Apache-2.0
"""A compiled forward and backward, and updates by arithmetic of arrays around it:
python arithmetic.py. By two processes, which add their gradients up:
mxc launch --workers 2 -- python arithmetic.py dist_sync"""
# What mxc.mxnet has comes from the table of operators, without types.
# mypy: ignore-errors
import sys

import numpy as np

import mxc.mxnet as mx

store = mx.kv.create(sys.argv[1]) if len(sys.argv) > 1 else None
rank, workers = (store.rank, store.num_workers) if store else (0, 1)

labels = np.arange(640) % 10
images = np.random.default_rng(7).normal(0, 0.1, (640, 1, 28, 28))
images[np.arange(640), 0, 2 * labels + 4, :] += 1  # the class is a bright row

layer = mx.sym.Flatten(mx.sym.Variable("data"))
for width in (128, 64, 10):
    layer = mx.sym.FullyConnected(layer, num_hidden=width)
    if width > 10:
        layer = mx.sym.Activation(layer, act_type="relu")
network = mx.sym.SoftmaxOutput(layer, name="softmax")
batch = 64 // workers
run = network.simple_bind(mx.cpu(), data=(batch, 1, 28, 28), softmax_label=(batch,))
weights = {name: array for name, array in run.arg_dict.items()
           if name not in ("data", "softmax_label")}
mx.random.seed(7)
for name, weight in weights.items():
    mx.init.Xavier()(mx.init.InitDesc(name), weight)
    if store:
        store.init(name, weight)

for epoch in range(3):
    for begin in range(0, 640, 64):
        own = slice(begin + rank * batch, begin + (rank + 1) * batch)
        run.forward(is_train=True, data=mx.nd.array(images[own]),
                    softmax_label=mx.nd.array(labels[own]))
        run.backward()
        for name, weight in weights.items():
            gradient = run.grad_dict[name]
            if store:
                store.push(name, gradient)
                store.pull(name, out=gradient)  # the sum of all processes'
            weight -= 0.1 / 64 * gradient

right = 0
for begin in range(0, 640, batch):
    scores = run.forward(data=mx.nd.array(images[begin:begin + batch]))[0].asnumpy()
    right += (scores.argmax(axis=1) == labels[begin:begin + batch]).sum()
print("accuracy", right / 640, "sum", sum(float(w.sum().asscalar()) for w in weights.values()))
