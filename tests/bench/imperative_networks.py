# SPDX-License-Identifier: Apache-2.0
"""Networks of imperative_loop.py, for mxc.mxnet and, as the same lines, for MXNet:
blocks, the shapes of a batch's data and labels, and how many classes there are."""


def mlp(gluon):
    """models/mlp.json."""
    nn, net = gluon.nn, gluon.nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(128, activation="relu"),
            nn.Dense(64, activation="relu"), nn.Dense(10))
    return net


def lenet(gluon):
    """models/lenet.json."""
    nn, net = gluon.nn, gluon.nn.HybridSequential()
    for filters in (20, 50):
        net.add(nn.Conv2D(filters, 5, activation="tanh"), nn.MaxPool2D(2, 2))
    net.add(nn.Dense(500, activation="tanh"), nn.Dense(10))
    return net


def resnet20(gluon):
    """models/resnet-20-cifar.json."""
    nn = gluon.nn

    class Unit(gluon.HybridBlock):
        """Two convolutions, each behind its normalization, around which the input goes."""

        def __init__(self, filters, stride, first):
            super().__init__()
            self.bn1, self.bn2 = nn.BatchNorm(), nn.BatchNorm()
            self.conv1 = nn.Conv2D(filters, 3, stride, 1, use_bias=False)
            self.conv2 = nn.Conv2D(filters, 3, 1, 1, use_bias=False)
            self.beside = nn.Conv2D(filters, 1, stride, use_bias=False) if first else None

        def hybrid_forward(self, F, x):
            """The sum of both ways."""
            inner = F.relu(self.bn1(x))
            beside = x if self.beside is None else self.beside(inner)
            return beside + self.conv2(F.relu(self.bn2(self.conv1(inner))))

    net = nn.HybridSequential()
    net.add(nn.BatchNorm(scale=False), nn.Conv2D(16, 3, 1, 1, use_bias=False))
    for stage, filters in enumerate((16, 32, 64)):
        for unit in range(3):
            net.add(Unit(filters, 2 if stage > 0 and unit == 0 else 1, unit == 0))
    net.add(nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Dense(10))
    return net


def lstm(gluon):
    """A language model of 10,000 words: two layers of 200."""
    class Words(gluon.HybridBlock):
        """Scores of each next word, of sequences as rows."""

        def __init__(self):
            super().__init__()
            self.embed = gluon.nn.Embedding(10000, 200)
            self.lstm = gluon.rnn.LSTM(200, 2, "NTC", input_size=200)
            self.decode = gluon.nn.Dense(10000, in_units=200)

        def hybrid_forward(self, F, x):
            """Rows of scores, sequence by sequence."""
            return self.decode(F.reshape(self.lstm(self.embed(x)), shape=(-1, 200)))

    return Words()


# By name: the block, a sample's shape, and how many words it has or None.
NETWORKS = {"mlp": (mlp, (1, 28, 28), None), "lenet": (lenet, (1, 28, 28), None),
            "resnet20": (resnet20, (3, 28, 28), None), "lstm": (lstm, (35,), 10000)}


def add(mx, size):
    """A step: a + b."""
    a, b = (mx.nd.ones((size, size)) for _ in range(2))
    return lambda: a + b


def gradient(mx, size):
    """A step: the sum of a * b, recorded, and its gradient."""
    a, b = (mx.nd.ones((size, size)) for _ in range(2))
    a.attach_grad()

    def step():
        with mx.autograd.record():
            total = (a * b).sum()
        total.backward()
    return step


# What is no network: how a step is made.
SMALL = {"add": add, "gradient": gradient}


def batches(name, batch, count, random):
    """Drawn data and labels, as arrays of `random`'s."""
    _, shape, words = NETWORKS[name]
    if words is None:
        return [(random.rand(batch, *shape).astype("float32"),
                 random.randint(0, 10, batch).astype("float32")) for _ in range(count)]
    return [(random.randint(0, words, (batch, *shape)).astype("float32"),
             random.randint(0, words, batch * shape[0]).astype("float32"))
            for _ in range(count)]
