# SPDX-License-Identifier: Apache-2.0
"""SqueezeNet (arXiv:1602.07360)."""
from ....context import cpu
from ... import nn
from ...contrib.nn import HybridConcurrent
from ._net import ROOT, Classifier, with_values

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

# A fire module's channels, or "pool".
_FIRES = {"1.0": ((16, 64), (16, 64), (32, 128), "pool", (32, 128), (48, 192), (48, 192),
                  (64, 256), "pool", (64, 256)),
          "1.1": ((16, 64), (16, 64), "pool", (32, 128), (32, 128), "pool", (48, 192), (48, 192),
                  (64, 256), (64, 256))}


def _conv(channels, kernel, pad=0):
    out = nn.HybridSequential(prefix="")
    out.add(nn.Conv2D(channels, kernel, padding=pad), nn.Activation("relu"))
    return out


def _fire(squeeze, expand):
    out = nn.HybridSequential(prefix="")
    out.add(_conv(squeeze, 1))
    paths = HybridConcurrent(axis=1, prefix="")
    paths.add(_conv(expand, 1))
    paths.add(_conv(expand, 3, 1))
    out.add(paths)
    return out


def _pool():
    return nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True)


class SqueezeNet(Classifier):
    """Few parameters: narrow layers before wide ones. `version` "1.0" or "1.1"."""

    def __init__(self, version, classes=1000, **kwargs):
        super().__init__(**kwargs)
        assert version in _FIRES, f"There are SqueezeNets 1.0 and 1.1, not {version}."
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            channels, kernel = (96, 7) if version == "1.0" else (64, 3)
            self.features.add(nn.Conv2D(channels, kernel_size=kernel, strides=2),
                              nn.Activation("relu"), _pool())
            for fire in _FIRES[version]:
                self.features.add(_pool() if fire == "pool" else _fire(*fire))
            self.features.add(nn.Dropout(0.5))
            self.output = nn.HybridSequential(prefix="")
            self.output.add(nn.Conv2D(classes, kernel_size=1), nn.Activation("relu"),
                            nn.AvgPool2D(13), nn.Flatten())


def get_squeezenet(version, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """SqueezeNet of a version."""
    return with_values(SqueezeNet(version, **kwargs), f"squeezenet{version}", pretrained, ctx,
                       root)


def squeezenet1_0(**kwargs):
    """SqueezeNet 1.0."""
    return get_squeezenet("1.0", **kwargs)


def squeezenet1_1(**kwargs):
    """SqueezeNet 1.1: as good, a fraction of the work."""
    return get_squeezenet("1.1", **kwargs)
