# SPDX-License-Identifier: Apache-2.0
"""MobileNet (arXiv:1704.04861) and MobileNet v2 (arXiv:1801.04381)."""
from ....context import cpu
from ... import nn
from ...block import HybridBlock
from ._net import ROOT, Classifier, add_conv, with_values

__all__ = ["MobileNet", "MobileNetV2", "get_mobilenet", "get_mobilenet_v2", "mobilenet1_0",
           "mobilenet0_75", "mobilenet0_5", "mobilenet0_25", "mobilenet_v2_1_0",
           "mobilenet_v2_0_75", "mobilenet_v2_0_5", "mobilenet_v2_0_25"]


class LinearBottleneck(HybridBlock):
    """Wider by `t`, a convolution of each channel, narrow again; plus the input if it fits."""

    def __init__(self, in_channels, channels, t, stride, **kwargs):
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        with self.name_scope():
            self.out = nn.HybridSequential()
            wide = in_channels * t
            add_conv(self.out, wide, 1, activation="relu6")
            add_conv(self.out, wide, 3, stride, 1, groups=wide, activation="relu6")
            add_conv(self.out, channels, 1, activation=None)

    def hybrid_forward(self, F, x):
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


class MobileNet(Classifier):
    """Convolutions of each channel, then across channels; `multiplier` of their widths."""

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        inputs = [32, 64] + [128] * 2 + [256] * 2 + [512] * 6 + [1024]
        outputs = inputs[1:] + [1024]
        strides = [1, 2] * 3 + [1] * 5 + [2, 1]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                add_conv(self.features, int(32 * multiplier), 3, 2, 1)
                for before, after, stride in zip(inputs, outputs, strides):
                    width = int(before * multiplier)
                    add_conv(self.features, width, 3, stride, 1, groups=width)
                    add_conv(self.features, int(after * multiplier), 1)
                self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)


class MobileNetV2(Classifier):
    """Bottlenecks that are narrow where they are added; `multiplier` of their widths."""

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        # (expansion, channels, repetitions, first stride).
        stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                  (6, 160, 3, 2), (6, 320, 1, 1))
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                before = int(32 * multiplier)
                add_conv(self.features, before, 3, 2, 1, activation="relu6")
                count = 0
                for t, channels, repetitions, stride in stages:
                    for i in range(repetitions):
                        after = int(channels * multiplier)
                        self.features.add(LinearBottleneck(
                            before, after, t, stride if i == 0 else 1,
                            prefix=f"linearbottleneck{count}_"))
                        before, count = after, count + 1
                last = int(1280 * multiplier) if multiplier > 1.0 else 1280
                add_conv(self.features, last, 1, activation="relu6")
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix="pred_"),
                                nn.Flatten())


def _width(multiplier):
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


def get_mobilenet(multiplier, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """MobileNet of `multiplier` of the widths: 1.0, 0.75, 0.5 or 0.25 have trained values."""
    return with_values(MobileNet(multiplier, **kwargs), "mobilenet" + _width(multiplier),
                       pretrained, ctx, root)


def get_mobilenet_v2(multiplier, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """MobileNet v2 of `multiplier` of the widths."""
    return with_values(MobileNetV2(multiplier, **kwargs), "mobilenetv2_" + _width(multiplier),
                       pretrained, ctx, root)


def mobilenet1_0(**kwargs):
    """MobileNet."""
    return get_mobilenet(1.0, **kwargs)


def mobilenet0_75(**kwargs):
    """MobileNet, 0.75 wide."""
    return get_mobilenet(0.75, **kwargs)


def mobilenet0_5(**kwargs):
    """MobileNet, 0.5 wide."""
    return get_mobilenet(0.5, **kwargs)


def mobilenet0_25(**kwargs):
    """MobileNet, 0.25 wide."""
    return get_mobilenet(0.25, **kwargs)


def mobilenet_v2_1_0(**kwargs):
    """MobileNet v2."""
    return get_mobilenet_v2(1.0, **kwargs)


def mobilenet_v2_0_75(**kwargs):
    """MobileNet v2, 0.75 wide."""
    return get_mobilenet_v2(0.75, **kwargs)


def mobilenet_v2_0_5(**kwargs):
    """MobileNet v2, 0.5 wide."""
    return get_mobilenet_v2(0.5, **kwargs)


def mobilenet_v2_0_25(**kwargs):
    """MobileNet v2, 0.25 wide."""
    return get_mobilenet_v2(0.25, **kwargs)
