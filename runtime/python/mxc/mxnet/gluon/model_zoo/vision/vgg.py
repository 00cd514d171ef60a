# SPDX-License-Identifier: Apache-2.0
"""VGG (arXiv:1409.1556)."""
from ....context import cpu
from .... import initializer
from ... import nn
from ._net import ROOT, Classifier, with_values

__all__ = ["VGG", "vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn",
           "vgg19_bn", "get_vgg"]

_FILTERS = [64, 128, 256, 512, 512]

# layers: (convolutions of each stage, their channels).
vgg_spec = {11: ([1, 1, 2, 2, 2], _FILTERS), 13: ([2, 2, 2, 2, 2], _FILTERS),
            16: ([2, 2, 3, 3, 3], _FILTERS), 19: ([2, 2, 4, 4, 4], _FILTERS)}


class VGG(Classifier):
    """Stages of convolutions of 3 x 3, then three layers; `batch_norm` after convolutions."""

    def __init__(self, layers, filters, classes=1000, batch_norm=False, **kwargs):
        super().__init__(**kwargs)
        assert len(layers) == len(filters), (
            f"{len(layers)} stages want as many numbers of channels, not {len(filters)}.")
        with self.name_scope():
            self.features = self._features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(nn.Dense(4096, activation="relu", weight_initializer="normal",
                                           bias_initializer="zeros"), nn.Dropout(rate=0.5))
            self.output = nn.Dense(classes, weight_initializer="normal",
                                   bias_initializer="zeros")

    @staticmethod
    def _features(layers, filters, batch_norm):
        features = nn.HybridSequential(prefix="")
        for count, channels in zip(layers, filters):
            for _ in range(count):
                features.add(nn.Conv2D(
                    channels, kernel_size=3, padding=1, bias_initializer="zeros",
                    weight_initializer=initializer.Xavier(rnd_type="gaussian",
                                                          factor_type="out", magnitude=2)))
                if batch_norm:
                    features.add(nn.BatchNorm())
                features.add(nn.Activation("relu"))
            features.add(nn.MaxPool2D(strides=2))
        return features


def get_vgg(num_layers, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """VGG of 11, 13, 16 or 19 layers."""
    net = VGG(*vgg_spec[num_layers], **kwargs)
    name = f"vgg{num_layers}" + ("_bn" if kwargs.get("batch_norm") else "")
    return with_values(net, name, pretrained, ctx, root)


def _of(num_layers, **fixed):
    def vgg(**kwargs):
        return get_vgg(num_layers, **dict(kwargs, **fixed))
    vgg.__name__ = vgg.__qualname__ = f"vgg{num_layers}" + ("_bn" if fixed else "")
    vgg.__doc__ = f"VGG-{num_layers}" + (" with BatchNorm." if fixed else ".")
    return vgg


vgg11, vgg13, vgg16, vgg19 = (_of(layers) for layers in vgg_spec)
vgg11_bn, vgg13_bn, vgg16_bn, vgg19_bn = (_of(layers, batch_norm=True) for layers in vgg_spec)
