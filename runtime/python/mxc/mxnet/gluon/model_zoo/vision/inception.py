# SPDX-License-Identifier: Apache-2.0
"""Inception v3 (arXiv:1512.00567)."""
from ....context import cpu
from ... import nn
from ...contrib.nn import HybridConcurrent
from ._net import ROOT, Classifier, add_conv, with_values

__all__ = ["Inception3", "inception_v3"]

# A convolution: (channels, kernel, stride, padding).


def _conv(channels, kernel, stride=1, pad=0):
    out = nn.HybridSequential(prefix="")
    add_conv(out, channels, kernel, stride, pad, epsilon=0.001)
    return out


def _branch(pool, *convs):
    out = nn.HybridSequential(prefix="")
    if pool == "avg":
        out.add(nn.AvgPool2D(pool_size=3, strides=1, padding=1))
    elif pool == "max":
        out.add(nn.MaxPool2D(pool_size=3, strides=2))
    for conv in convs:
        out.add(_conv(*conv))
    return out


def _beside(prefix, *branches):
    out = HybridConcurrent(axis=1, prefix=prefix)
    with out.name_scope():
        for branch in branches:
            out.add(branch() if callable(branch) and not isinstance(branch, nn.Block)
                    else branch)
    return out


def _lazily(pool, *convs):
    return lambda: _branch(pool, *convs)


def _a(pool_features, prefix):
    return _beside(prefix, _lazily(None, (64, 1)), _lazily(None, (48, 1), (64, 5, 1, 2)),
                   _lazily(None, (64, 1), (96, 3, 1, 1), (96, 3, 1, 1)),
                   _lazily("avg", (pool_features, 1)))


def _b(prefix):
    return _beside(prefix, _lazily(None, (384, 3, 2)),
                   _lazily(None, (64, 1), (96, 3, 1, 1), (96, 3, 2)), _lazily("max"))


def _c(width, prefix):
    across, down = (1, 7), (7, 1)
    return _beside(
        prefix, _lazily(None, (192, 1)),
        _lazily(None, (width, 1), (width, across, 1, (0, 3)), (192, down, 1, (3, 0))),
        _lazily(None, (width, 1), (width, down, 1, (3, 0)), (width, across, 1, (0, 3)),
                (width, down, 1, (3, 0)), (192, across, 1, (0, 3))),
        _lazily("avg", (192, 1)))


def _d(prefix):
    return _beside(prefix, _lazily(None, (192, 1), (320, 3, 2)),
                   _lazily(None, (192, 1), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)),
                           (192, 3, 2)), _lazily("max"))


def _forked(*convs):
    """Convolutions, then one across and one down, side by side."""
    def make():
        out = nn.HybridSequential(prefix="")
        out.add(_branch(None, *convs))
        fork = HybridConcurrent(axis=1, prefix="")
        fork.add(_branch(None, (384, (1, 3), 1, (0, 1))))
        fork.add(_branch(None, (384, (3, 1), 1, (1, 0))))
        out.add(fork)
        return out
    return make


def _e(prefix):
    return _beside(prefix, _lazily(None, (320, 1)), _forked((384, 1)),
                   _forked((448, 1), (384, 3, 1, 1)), _lazily("avg", (192, 1)))


class Inception3(Classifier):
    """Branches of several kernels side by side; (N, 3, 299, 299) to (N, classes)."""

    def __init__(self, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            add = self.features.add
            for conv in ((32, 3, 2), (32, 3), (64, 3, 1, 1)):
                add(_conv(*conv))
            add(nn.MaxPool2D(pool_size=3, strides=2), _conv(80, 1), _conv(192, 3),
                nn.MaxPool2D(pool_size=3, strides=2))
            for i, width in enumerate((32, 64, 64)):
                add(_a(width, f"A{i + 1}_"))
            add(_b("B_"))
            for i, width in enumerate((128, 160, 160, 192)):
                add(_c(width, f"C{i + 1}_"))
            add(_d("D_"), _e("E1_"), _e("E2_"), nn.AvgPool2D(pool_size=8), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def inception_v3(pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """Inception v3."""
    return with_values(Inception3(**kwargs), "inceptionv3", pretrained, ctx, root)
