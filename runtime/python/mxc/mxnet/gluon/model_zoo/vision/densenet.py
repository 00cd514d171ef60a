# SPDX-License-Identifier: Apache-2.0
"""DenseNet (arXiv:1608.06993)."""
from ....context import cpu
from ... import nn
from ...contrib.nn import HybridConcurrent, Identity
from ._net import ROOT, Classifier, with_values

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]

# layers: (channels at first, growth, layers of each block).
densenet_spec = {121: (64, 32, [6, 12, 24, 16]), 161: (96, 48, [6, 12, 36, 24]),
                 169: (64, 32, [6, 12, 32, 32]), 201: (64, 32, [6, 12, 48, 32])}


def _block(layers, bn_size, growth, dropout, stage):
    block = nn.HybridSequential(prefix=f"stage{stage}_")
    with block.name_scope():
        for _ in range(layers):
            block.add(_layer(growth, bn_size, dropout))
    return block


def _layer(growth, bn_size, dropout):
    """The input with `growth` new channels beside it."""
    new = nn.HybridSequential(prefix="")
    new.add(nn.BatchNorm(), nn.Activation("relu"),
            nn.Conv2D(bn_size * growth, kernel_size=1, use_bias=False),
            nn.BatchNorm(), nn.Activation("relu"),
            nn.Conv2D(growth, kernel_size=3, padding=1, use_bias=False))
    if dropout:
        new.add(nn.Dropout(dropout))
    both = HybridConcurrent(axis=1, prefix="")
    both.add(Identity())
    both.add(new)
    return both


def _transition(channels):
    block = nn.HybridSequential(prefix="")
    block.add(nn.BatchNorm(), nn.Activation("relu"),
              nn.Conv2D(channels, kernel_size=1, use_bias=False),
              nn.AvgPool2D(pool_size=2, strides=2))
    return block


class DenseNet(Classifier):
    """Blocks of layers that each see all before; (N, 3, 224, 224) to (N, classes)."""

    def __init__(self, num_init_features, growth_rate, block_config, bn_size=4, dropout=0,
                 classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(
                nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3,
                          use_bias=False),
                nn.BatchNorm(), nn.Activation("relu"),
                nn.MaxPool2D(pool_size=3, strides=2, padding=1))
            channels = num_init_features
            for i, layers in enumerate(block_config):
                self.features.add(_block(layers, bn_size, growth_rate, dropout, i + 1))
                channels += layers * growth_rate
                if i != len(block_config) - 1:
                    channels //= 2
                    self.features.add(_transition(channels))
            self.features.add(nn.BatchNorm(), nn.Activation("relu"),
                              nn.AvgPool2D(pool_size=7), nn.Flatten())
            self.output = nn.Dense(classes)


def get_densenet(num_layers, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """DenseNet of 121, 161, 169 or 201 layers."""
    return with_values(DenseNet(*densenet_spec[num_layers], **kwargs), f"densenet{num_layers}",
                       pretrained, ctx, root)


def densenet121(**kwargs):
    """DenseNet-121."""
    return get_densenet(121, **kwargs)


def densenet161(**kwargs):
    """DenseNet-161."""
    return get_densenet(161, **kwargs)


def densenet169(**kwargs):
    """DenseNet-169."""
    return get_densenet(169, **kwargs)


def densenet201(**kwargs):
    """DenseNet-201."""
    return get_densenet(201, **kwargs)
