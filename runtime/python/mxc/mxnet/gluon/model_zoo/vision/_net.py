# SPDX-License-Identifier: Apache-2.0
"""What the networks have in common."""
from ... import nn
from ...block import HybridBlock
from ..model_store import _ROOT, get_model_file

ROOT = _ROOT


class Classifier(HybridBlock):
    """`features`, then `output`: one number for each class."""

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def with_values(net, name, pretrained, ctx, root):
    """`net`, with the values of its file where `pretrained`."""
    if pretrained:
        net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net


def add_conv(block, channels, kernel, stride=1, pad=0, groups=1, activation="relu", epsilon=1e-5):
    """Adds convolution, BatchNorm and activation (a name, "relu6" or None)."""
    block.add(nn.Conv2D(channels, kernel, stride, pad, groups=groups, use_bias=False))
    block.add(nn.BatchNorm(scale=True, epsilon=epsilon))
    if activation == "relu6":
        block.add(RELU6())
    elif activation:
        block.add(nn.Activation(activation))


class RELU6(HybridBlock):
    """x between 0 and 6."""

    def hybrid_forward(self, F, x):
        return F.clip(x, 0, 6, name="relu6")
