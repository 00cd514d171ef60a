# SPDX-License-Identifier: Apache-2.0
"""usage: loop_digests.py

Trains small networks of many layers in loops over arrays and prints, for each, what
its parameters and losses are to the bit."""
import hashlib

import numpy as np

import mxc.mxnet as mx
from mxc.mxnet import autograd, gluon
from mxc.mxnet.gluon import nn, rnn

TURNS = 8


class Recurrent(gluon.HybridBlock):
    """Scores of the next one of 20 words."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.layers = [nn.Embedding(20, 8), rnn.LSTM(12, 2), nn.Dense(20, flatten=False)]
            for layer in self.layers:
                self.register_child(layer)

    def hybrid_forward(self, F, x):
        for layer in self.layers:
            x = layer(x)
        return x


def chain(*layers):
    """Of which one takes what the one before it yields."""
    net = nn.HybridSequential()
    net.add(*layers)
    return net


# The network, the shape of its data, and how many words they are of, if they are.
NETS = {
    "normalized": (lambda: chain(nn.Dense(16, activation="tanh"), nn.LayerNorm(),
                                 nn.Dense(40, activation="relu"), nn.LayerNorm(),
                                 nn.Dense(5)), (7, 9), None),
    "convolutions": (lambda: chain(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(),
                                   nn.Activation("relu"), nn.MaxPool2D(),
                                   nn.Conv2D(8, 3, use_bias=False), nn.InstanceNorm(),
                                   nn.PReLU(), nn.GlobalAvgPool2D(), nn.Dense(5)),
                     (6, 3, 12, 12), None),
    "drawn": (lambda: chain(nn.Dense(33, activation="sigmoid"), nn.Dropout(0.3),
                            nn.Dense(24), nn.GELU(), nn.Dense(5)), (9, 11), None),
    "recurrent": (Recurrent, (6, 4), 20),
}


def trained(make, shape, words, optimizer, hybrid):
    """The digest of what training leaves."""
    mx.random.seed(3)
    net = make()
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.05})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    random, digest = np.random.RandomState(1), hashlib.sha1()
    data = [random.randint(0, words, shape) if words else random.randn(*shape)
            for _ in range(3)]
    labels = random.randint(0, words or 5, shape if words else shape[:1])
    data, labels = [mx.nd.array(each) for each in data], mx.nd.array(labels)
    for turn in range(TURNS):
        with autograd.record():
            value = loss(net(data[turn % 3]), labels)
        value.backward()
        trainer.step(shape[0])
        if turn > TURNS - 3:
            digest.update(value.asnumpy().tobytes())
    for parameter in net.collect_params().values():
        digest.update(parameter.data().asnumpy().tobytes())
    return digest.hexdigest()


def main():
    for name, net in NETS.items():
        for optimizer in ("sgd", "adam"):
            for hybrid in (False, True):
                print(name, optimizer, hybrid, trained(*net, optimizer, hybrid))


if __name__ == "__main__":
    main()
