# SPDX-License-Identifier: Apache-2.0
"""A training loop of MXNet 1.9.1 or PyTorch, beside imperative_loop.py, which tells it
when to run: it prints a line once it is ready, then for each number of steps that it
reads the milliseconds of one of as many.

    python imperative_peer.py mxnet|torch|torch-compiled NETWORK BATCH

Of NETWORK `add` and `gradient` the step is a + b of BATCH x BATCH, and the gradient of
the sum of a * b.
"""
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from imperative_networks import NETWORKS, SMALL, batches  # noqa: E402

LR, MOMENTUM = 0.05, 0.9
# Before it is ready.
WARM = 3


def mxnet_step(name, batch):
    """A step of MXNet, and what waits for it."""
    if not hasattr(np, "bool"):
        np.bool = np.bool_
    import mxnet as mx
    from mxnet import autograd, gluon
    if name in SMALL:
        return SMALL[name](mx, batch), mx.nd.waitall
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
    if name in SMALL:
        return torch_small(torch, name, batch), lambda: None
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


def torch_small(torch, name, size):
    """The same as SMALL's."""
    a = torch.ones(size, size, requires_grad=name == "gradient")
    b = torch.ones(size, size)
    if name == "add":
        return lambda: a + b

    def step():
        a.grad = None
        (a * b).sum().backward()
    return step


def milliseconds(step, wait, steps):
    """Of one of so many steps."""
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    return (time.perf_counter() - begin) / steps * 1e3


def main():
    """Runs what it is told to."""
    framework, name, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
    step, wait = (mxnet_step(name, batch) if framework == "mxnet"
                  else torch_step(name, batch, framework == "torch-compiled"))
    milliseconds(step, wait, WARM)
    print("ready", flush=True)
    for line in sys.stdin:
        print(milliseconds(step, wait, int(line)), flush=True)


if __name__ == "__main__":
    main()
