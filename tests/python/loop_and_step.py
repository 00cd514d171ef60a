# SPDX-License-Identifier: Apache-2.0
"""A training loop over arrays and the same network's step that is compiled whole: what
mxnet_loop_test.py compares and tests/bench/imperative_loop.py times."""
import numpy as np

import mxc
import mxc.mxnet as mx
from mxc.mxnet import autograd, gluon

LR, MOMENTUM = 0.05, 0.9


def dense(units):
    """Layers of these widths, as nodes, as a block, and their names."""
    nodes, net = [{"op": "Flatten"}], gluon.nn.HybridSequential()
    for i, width in enumerate(units):
        last = i == len(units) - 1
        nodes.append({"op": "FullyConnected", "name": f"fc{i}", "num_hidden": width})
        if not last:
            nodes.append({"op": "Activation", "act_type": "relu"})
        net.add(gluon.nn.Dense(width, activation=None if last else "relu"))
    return nodes, net, [f"fc{i}" for i in range(len(units))]


class Compiled:
    """The step that is compiled whole."""

    def __init__(self, nodes, layers, shape, **options):
        network = {"mxc": 1, "name": "net", "inputs": {"data": ["N", *shape[1:]]},
                   "nodes": [*nodes, {"op": "SoftmaxOutput", "name": "softmax"}]}
        self.trainer = mxc.compile(
            network, init="xavier", seed=1, entries=["train"], batch=shape[0],
            optimizer="sgd", attributes={"momentum": MOMENTUM}).trainer(**options)
        self.layers = layers

    def step(self, x, y):
        """One step."""
        self.trainer.step(x, y, lr=LR)

    def values(self):
        """Parameters."""
        found = self.trainer.parameters()
        return [found[f"{name}_{part}"].copy() for name in self.layers
                for part in ("weight", "bias")]


def loss_of(net):
    """A block and a softmax, as a symbol."""
    return mx.sym.SoftmaxOutput(net(mx.sym.var("data")), mx.sym.var("softmax_label"),
                                name="softmax")


class CompiledBlock:
    """The step of a block and a softmax, compiled whole; from the block's values."""

    def __init__(self, net, x, y, momentum=MOMENTUM, **options):
        params = net.collect_params()
        self.names = list(params)
        self.trainer = mxc.compile(
            loss_of(net).tojson(),
            params={name: params[name].data().asnumpy() for name in params},
            entries=["train"], shapes={"data": x.shape, "softmax_label": y.shape},
            optimizer="sgd", attributes={"momentum": momentum} if momentum else {},
        ).trainer(**options)

    def step(self, x, y):
        """One step."""
        self.trainer.step(x, y, lr=LR)

    def values(self):
        """Parameters and running means."""
        found = self.trainer.parameters()
        return [found[name].copy() for name in self.names]


class Arithmetic:
    """A compiled forward and backward, around which arrays are updated by arithmetic:
    CompiledBlock's step without momentum."""

    def __init__(self, net, x, y):
        params = net.collect_params()
        self.run = loss_of(net).simple_bind(mx.cpu(), data=x.shape, softmax_label=y.shape)
        self.weights = [self.run.arg_dict[name] for name in params]
        self.updates = [(weight, self.run.grad_dict[name])
                        for name, weight in zip(params, self.weights)]
        for weight, param in zip(self.weights, params.values()):
            weight[:] = param.data()

    def step(self, x, y):
        """One step."""
        self.run.forward(is_train=True, data=x, softmax_label=y)
        self.run.backward()
        rate = LR / len(x)
        for weight, gradient in self.updates:
            weight -= rate * gradient

    def values(self):
        """Parameters."""
        return [weight.asnumpy() for weight in self.weights]


class Loop:
    """The same by autograd and Trainer. values: of parameters; None: the net's own."""

    def __init__(self, net, values, shape):
        if values is not None:
            net.initialize()
            net(mx.nd.zeros(shape))
        net.hybridize()
        self.net = net
        self.params = list(net.collect_params().values())
        for param, value in zip(self.params, values or ()):
            param.set_data(mx.nd.array(value))
        self.trainer = gluon.Trainer(net.collect_params(), "sgd",
                                     {"learning_rate": LR, "momentum": MOMENTUM})

    def step(self, x, y):
        """One step; the outputs."""
        with autograd.record():
            out = mx.nd.SoftmaxOutput(self.net(x), y)
        out.backward()
        self.trainer.step(len(x))
        return out

    def values(self):
        """Parameters."""
        return [param.data().asnumpy() for param in self.params]


def batches(shape, count=3):
    """Data and labels, drawn."""
    draws = np.random.RandomState(0)
    return [(draws.rand(*shape).astype("float32"),
             draws.randint(0, 10, shape[0]).astype("float32")) for _ in range(count)]
