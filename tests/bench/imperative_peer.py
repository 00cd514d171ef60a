# SPDX-License-Identifier: Apache-2.0
"""A training loop of MXNet 1.9.1 or PyTorch, for imperative_loop.py: prints the
milliseconds of a step, the best of rounds; of PyTorch eager, then compiled.

    python imperative_peer.py mxnet|torch NETWORK BATCH STEPS
"""
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from imperative_networks import NETWORKS, batches  # noqa: E402

ROUNDS, LR, MOMENTUM = 5, 0.05, 0.9


def mxnet_step(name, batch):
    """A step of MXNet, and what waits for it."""
    if not hasattr(np, "bool"):
        np.bool = np.bool_
    import mxnet as mx
    from mxnet import autograd, gluon
    net = NETWORKS[name][0](gluon)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x, y = (mx.nd.array(each) for each in data(name, batch))
    net(x)
    trainer = gluon.Trainer(net.collect_params(), "sgd",
                            {"learning_rate": LR, "momentum": MOMENTUM})

    def step():
        with autograd.record():
            out = mx.nd.SoftmaxOutput(net(x), y)
        out.backward()
        trainer.step(batch)
    return step, mx.nd.waitall


def torch_network(name):
    """The same network of PyTorch."""
    import torch
    from torch import nn
    if name == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(),
                             nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    if name == "lenet":
        return nn.Sequential(nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2, 2),
                             nn.Conv2d(20, 50, 5), nn.Tanh(), nn.MaxPool2d(2, 2),
                             nn.Flatten(), nn.Linear(800, 500), nn.Tanh(),
                             nn.Linear(500, 10))

    class Unit(nn.Module):
        """Of resnet20."""

        def __init__(self, before, filters, stride, first):
            super().__init__()
            self.bn1, self.bn2 = nn.BatchNorm2d(before), nn.BatchNorm2d(filters)
            self.conv1 = nn.Conv2d(before, filters, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
            self.beside = (nn.Conv2d(before, filters, 1, stride, bias=False) if first
                           else None)

        def forward(self, x):
            """The sum of both ways."""
            inner = torch.relu(self.bn1(x))
            beside = x if self.beside is None else self.beside(inner)
            return beside + self.conv2(torch.relu(self.bn2(self.conv1(inner))))

    class Words(nn.Module):
        """Of lstm."""

        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10000, 200)
            self.lstm = nn.LSTM(200, 200, 2, batch_first=True)
            self.decode = nn.Linear(200, 10000)

        def forward(self, x):
            """Rows of scores."""
            return self.decode(self.lstm(self.embed(x.long()))[0].reshape(-1, 200))

    if name == "lstm":
        return Words()
    layers, before = [nn.BatchNorm2d(3), nn.Conv2d(3, 16, 3, 1, 1, bias=False)], 16
    for stage, filters in enumerate((16, 32, 64)):
        for unit in range(3):
            layers.append(Unit(before, filters, 2 if stage > 0 and unit == 0 else 1,
                               unit == 0))
            before = filters
    return nn.Sequential(*layers, nn.BatchNorm2d(64), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def torch_step(name, batch, compiled):
    """A step of PyTorch."""
    import torch
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    net = torch_network(name)
    optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)
    called = torch.compile(net) if compiled else net
    x, y = (torch.from_numpy(each) for each in data(name, batch))
    y = y.long()

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(called(x), y).backward()
        optimizer.step()
    return step, lambda: None


def data(name, batch):
    """A batch and its labels."""
    return batches(name, batch, 1, np.random.RandomState(0))[0]


def best(step, wait, steps):
    """Milliseconds."""
    least = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        least = min(least, (time.perf_counter() - begin) / steps * 1e3)
    return least


def main():
    """Measures."""
    framework, name, batch, steps = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    if framework == "mxnet":
        print(f"{best(*mxnet_step(name, batch), steps):.3f}")
        return
    print(f"{best(*torch_step(name, batch, False), steps):.3f}", end="", flush=True)
    try:
        print(f" compiled {best(*torch_step(name, batch, True), steps):.3f}")
    except Exception as error:  # it compiles by a C++ compiler, which may be missing
        print(f" compiled: {type(error).__name__}")


if __name__ == "__main__":
    main()
