# SPDX-License-Identifier: Apache-2.0
"""A training loop of MXNet 1.9.1 or PyTorch, for imperative_loop.py: prints the
milliseconds of a step, the best of rounds.

    python imperative_peer.py mxnet|torch mlp|lenet BATCH STEPS
"""
import os
import sys
import time

import numpy as np

ROUNDS, LR, MOMENTUM = 7, 0.05, 0.9


def mxnet_step(name, batch):
    """A step of MXNet, and what waits for it."""
    if not hasattr(np, "bool"):
        np.bool = np.bool_
    import mxnet as mx
    from mxnet import autograd, gluon
    nn, net = gluon.nn, gluon.nn.HybridSequential()
    if name == "mlp":
        net.add(nn.Dense(128, activation="relu"), nn.Dense(64, activation="relu"),
                nn.Dense(10))
    else:
        for filters in (20, 50):
            net.add(nn.Conv2D(filters, 5, activation="tanh"), nn.MaxPool2D(2, 2))
        net.add(nn.Dense(500, activation="tanh"), nn.Dense(10))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x, y = (mx.nd.array(each) for each in data(batch))
    net(x)
    trainer = gluon.Trainer(net.collect_params(), "sgd",
                            {"learning_rate": LR, "momentum": MOMENTUM})

    def step():
        with autograd.record():
            out = mx.nd.SoftmaxOutput(net(x), y)
        out.backward()
        trainer.step(batch)
    return step, mx.nd.waitall


def torch_step(name, batch):
    """A step of PyTorch."""
    import torch
    from torch import nn
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    if name == "mlp":
        net = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(),
                            nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    else:
        net = nn.Sequential(nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2, 2),
                            nn.Conv2d(20, 50, 5), nn.Tanh(), nn.MaxPool2d(2, 2),
                            nn.Flatten(), nn.Linear(800, 500), nn.Tanh(),
                            nn.Linear(500, 10))
    x, y = (torch.from_numpy(each) for each in data(batch))
    y = y.long()
    optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    return step, lambda: None


def data(batch):
    """A batch and its labels."""
    draws = np.random.RandomState(0)
    return (draws.rand(batch, 1, 28, 28).astype("float32"),
            draws.randint(0, 10, batch).astype("float32"))


def main():
    """Measures."""
    framework, name, batch, steps = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    step, wait = (mxnet_step if framework == "mxnet" else torch_step)(name, batch)
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        best = min(best, (time.perf_counter() - begin) / steps * 1e3)
    print(f"{best:.3f}")


if __name__ == "__main__":
    main()
