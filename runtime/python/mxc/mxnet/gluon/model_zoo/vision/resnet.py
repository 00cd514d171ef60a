# SPDX-License-Identifier: Apache-2.0
"""ResNet v1 (arXiv:1512.03385) and v2 (arXiv:1603.05027)."""
from ....context import cpu
from ... import nn
from ...block import HybridBlock
from ._net import ROOT, Classifier, with_values

__all__ = ["ResNetV1", "ResNetV2", "BasicBlockV1", "BasicBlockV2", "BottleneckV1",
           "BottleneckV2", "resnet18_v1", "resnet34_v1", "resnet50_v1", "resnet101_v1",
           "resnet152_v1", "resnet18_v2", "resnet34_v2", "resnet50_v2", "resnet101_v2",
           "resnet152_v2", "get_resnet"]


def _conv3x3(channels, stride, in_channels):
    return nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False,
                     in_channels=in_channels)


class _BlockV1(HybridBlock):
    """relu(body(x) + x), x through `downsample` where sizes differ."""

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.body = nn.HybridSequential(prefix="")
        self._add_body(channels, stride, in_channels)
        if downsample:
            self.downsample = nn.HybridSequential(prefix="")
            self.downsample.add(nn.Conv2D(channels, kernel_size=1, strides=stride,
                                          use_bias=False, in_channels=in_channels),
                                nn.BatchNorm())
        else:
            self.downsample = None

    def _add_body(self, channels, stride, in_channels):
        raise NotImplementedError

    def hybrid_forward(self, F, x):
        body = self.body(x)
        residual = x if self.downsample is None else self.downsample(x)
        return F.Activation(self._sum(body, residual), act_type="relu")

    @staticmethod
    def _sum(body, residual):
        """The order of a sum's terms is part of a file of symbols."""
        return residual + body


class BasicBlockV1(_BlockV1):
    """Two convolutions of 3 x 3."""

    def _add_body(self, channels, stride, in_channels):
        self.body.add(_conv3x3(channels, stride, in_channels), nn.BatchNorm(),
                      nn.Activation("relu"), _conv3x3(channels, 1, channels), nn.BatchNorm())


class BottleneckV1(_BlockV1):
    """A convolution of 3 x 3 between two of 1 x 1, a quarter as wide."""

    def _add_body(self, channels, stride, in_channels):
        self.body.add(nn.Conv2D(channels // 4, kernel_size=1, strides=stride), nn.BatchNorm(),
                      nn.Activation("relu"), _conv3x3(channels // 4, 1, channels // 4),
                      nn.BatchNorm(), nn.Activation("relu"),
                      nn.Conv2D(channels, kernel_size=1, strides=1), nn.BatchNorm())

    @staticmethod
    def _sum(body, residual):
        return body + residual


class _BlockV2(HybridBlock):
    """BatchNorm and relu before each convolution; the input is added as it is."""

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        for i, conv in enumerate(self._convs(channels, stride, in_channels)):
            setattr(self, f"bn{i + 1}", nn.BatchNorm())
            setattr(self, f"conv{i + 1}", conv())
        self.downsample = nn.Conv2D(channels, 1, stride, use_bias=False,
                                    in_channels=in_channels) if downsample else None

    def _convs(self, channels, stride, in_channels):
        raise NotImplementedError

    def hybrid_forward(self, F, x):
        residual, first = x, True
        for i in range(1, 4):
            if f"bn{i}" not in self._children:
                break
            x = F.Activation(getattr(self, f"bn{i}")(x), act_type="relu")
            if first and self.downsample:
                residual = self.downsample(x)
            first = False
            x = getattr(self, f"conv{i}")(x)
        return x + residual


class BasicBlockV2(_BlockV2):
    """Two convolutions of 3 x 3."""

    def _convs(self, channels, stride, in_channels):
        return (lambda: _conv3x3(channels, stride, in_channels),
                lambda: _conv3x3(channels, 1, channels))


class BottleneckV2(_BlockV2):
    """A convolution of 3 x 3 between two of 1 x 1, a quarter as wide."""

    def _convs(self, channels, stride, in_channels):
        narrow = channels // 4
        return (lambda: nn.Conv2D(narrow, kernel_size=1, strides=1, use_bias=False),
                lambda: _conv3x3(narrow, stride, narrow),
                lambda: nn.Conv2D(channels, kernel_size=1, strides=1, use_bias=False))


class _ResNet(Classifier):
    """Stages of blocks; a `thumbnail`, as CIFAR's, begins without reducing."""

    def _begin(self, channels, thumbnail):
        if thumbnail:
            self.features.add(_conv3x3(channels, 1, 0))
        else:
            self.features.add(nn.Conv2D(channels, 7, 2, 3, use_bias=False), nn.BatchNorm(),
                              nn.Activation("relu"), nn.MaxPool2D(3, 2, 1))

    def _add_stages(self, block, layers, channels):
        assert len(layers) == len(channels) - 1, (
            f"{len(layers)} stages want {len(layers) + 1} numbers of channels, not "
            f"{len(channels)}.")
        for i, count in enumerate(layers):
            before, after = channels[i], channels[i + 1]
            stage = nn.HybridSequential(prefix=f"stage{i + 1}_")
            with stage.name_scope():
                stage.add(block(after, 1 if i == 0 else 2, after != before, in_channels=before,
                                prefix=""))
                for _ in range(count - 1):
                    stage.add(block(after, 1, False, in_channels=after, prefix=""))
            self.features.add(stage)


class ResNetV1(_ResNet):
    """ResNet as first published; (N, 3, 224, 224) to (N, classes)."""

    def __init__(self, block, layers, channels, classes=1000, thumbnail=False, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self._begin(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(_ResNet):
    """ResNet with normalization before each convolution."""

    def __init__(self, block, layers, channels, classes=1000, thumbnail=False, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.BatchNorm(scale=False, center=False))
            self._begin(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(),
                              nn.Flatten())
            self.output = nn.Dense(classes, in_units=channels[-1])


_BASIC, _BOTTLENECK = [64, 64, 128, 256, 512], [64, 256, 512, 1024, 2048]

# layers: (kind of block, blocks of each stage, channels).
resnet_spec = {18: ("basic_block", [2, 2, 2, 2], _BASIC),
               34: ("basic_block", [3, 4, 6, 3], _BASIC),
               50: ("bottle_neck", [3, 4, 6, 3], _BOTTLENECK),
               101: ("bottle_neck", [3, 4, 23, 3], _BOTTLENECK),
               152: ("bottle_neck", [3, 8, 36, 3], _BOTTLENECK)}

resnet_net_versions = [ResNetV1, ResNetV2]
resnet_block_versions = [{"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
                         {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2}]


def get_resnet(version, num_layers, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """ResNet v`version` (1 or 2) of 18, 34, 50, 101 or 152 layers."""
    assert num_layers in resnet_spec, (
        f"There are ResNets of {sorted(resnet_spec)} layers, not {num_layers}.")
    assert version in (1, 2), f"There are ResNets v1 and v2, not v{version}."
    kind, layers, channels = resnet_spec[num_layers]
    net = resnet_net_versions[version - 1](resnet_block_versions[version - 1][kind], layers,
                                           channels, **kwargs)
    return with_values(net, f"resnet{num_layers}_v{version}", pretrained, ctx, root)


def _of(version, num_layers):
    def resnet(**kwargs):
        return get_resnet(version, num_layers, **kwargs)
    resnet.__name__ = resnet.__qualname__ = f"resnet{num_layers}_v{version}"
    resnet.__doc__ = f"ResNet-{num_layers} v{version}."
    return resnet


resnet18_v1, resnet34_v1, resnet50_v1, resnet101_v1, resnet152_v1 = (
    _of(1, layers) for layers in resnet_spec)
resnet18_v2, resnet34_v2, resnet50_v2, resnet101_v2, resnet152_v2 = (
    _of(2, layers) for layers in resnet_spec)
