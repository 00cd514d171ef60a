# SPDX-License-Identifier: Apache-2.0
"""Convolutions that learn where to look (arXiv:1703.06211, arXiv:1811.11168)."""
from ...block import HybridBlock
from ...nn import Activation
from ...nn.conv_layers import tuple_of

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


class DeformableConvolution(HybridBlock):
    """A convolution whose taps are moved by offsets, which another convolution computes.

    Offsets: (N, 2 kernel area num_deformable_group, H, W)."""

    _maps = 2  # of each tap: what the other convolution computes

    def __init__(self, channels, kernel_size=(1, 1), strides=(1, 1), padding=(0, 0),
                 dilation=(1, 1), groups=1, num_deformable_group=1, layout="NCHW", use_bias=True,
                 in_channels=0, activation=None, weight_initializer=None,
                 bias_initializer="zeros", offset_weight_initializer="zeros",
                 offset_bias_initializer="zeros", offset_use_bias=True, op_name=None, adj=None,
                 prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        assert layout in ("NCHW", "NHWC"), f"layout is 'NCHW' or 'NHWC', not '{layout}'."
        if layout == "NHWC":
            raise NotImplementedError("Deformable convolutions are there for NCHW, not NHWC.")
        assert adj is None, "A deformable convolution has no transpose: adj is None."
        self._op_name = op_name or type(self).__name__
        self._channels = channels
        kernel = tuple_of(kernel_size, 2)
        common = {"kernel": kernel, "stride": tuple_of(strides, 2),
                  "dilate": tuple_of(dilation, 2), "pad": tuple_of(padding, 2),
                  "num_group": groups, "layout": layout}
        maps = self._maps * kernel[0] * kernel[1] * num_deformable_group
        self._split = 2 * kernel[0] * kernel[1] * num_deformable_group
        self._offset = dict(common, num_filter=maps, no_bias=not offset_use_bias)
        self._conv = dict(common, num_filter=channels, no_bias=not use_bias,
                          num_deformable_group=num_deformable_group)
        per_group = in_channels // groups
        with self.name_scope():
            self.offset_weight = self._param("offset_weight", (maps, per_group, *kernel),
                                             offset_weight_initializer)
            self.offset_bias = self._param("offset_bias", (maps,), offset_bias_initializer) \
                if offset_use_bias else None
            self.deformable_conv_weight = self._param(
                "deformable_conv_weight", (channels, per_group, *kernel), weight_initializer)
            self.deformable_conv_bias = self._param(
                "deformable_conv_bias", (channels,), bias_initializer) if use_bias else None
            self.act = Activation(activation, prefix=activation + "_") if activation else None

    def _param(self, name, shape, init):
        return self.params.get(name, shape=shape, init=init, allow_deferred_init=True)

    def _moves(self, F, maps):
        """The operator's further inputs, of the other convolution's maps."""
        return [maps]

    def hybrid_forward(self, F, x, offset_weight, deformable_conv_weight, offset_bias=None,
                       deformable_conv_bias=None):
        maps = F.Convolution(x, offset_weight, *([] if offset_bias is None else [offset_bias]),
                             **self._offset)
        bias = [] if deformable_conv_bias is None else [deformable_conv_bias]
        out = getattr(F.contrib, self._op_name)(x, *self._moves(F, maps), deformable_conv_weight,
                                                *bias, name="fwd", **self._conv)
        return self.act(out) if self.act else out

    def _alias(self):
        return "deformable_conv"

    def __repr__(self):
        shape = self.deformable_conv_weight.shape
        return f"{type(self).__name__}({shape[1] or None} -> {self._channels}, " \
               f"kernel_size={self._conv['kernel']}, stride={self._conv['stride']})"


class ModulatedDeformableConvolution(DeformableConvolution):
    """A deformable convolution whose taps are weighted, too, from 0 to 2."""

    _maps = 3

    def _moves(self, F, maps):
        weights = F.slice_axis(maps, axis=1, begin=self._split, end=None)
        return [F.slice_axis(maps, axis=1, begin=0, end=self._split), F.sigmoid(weights) * 2]

    def _alias(self):
        return "modulated_deformable_conv"
