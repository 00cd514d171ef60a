# SPDX-License-Identifier: Apache-2.0
"""Convolutions and their transposes, of one to three dimensions."""
from ... import symbol
from ..block import HybridBlock
from .activations import Activation

__all__ = ["Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose",
           "Conv3DTranspose"]


def tuple_of(value, rank):
    """`value` for each of `rank` dimensions, or the tuple that it is."""
    value = (value,) * rank if isinstance(value, int) else tuple(value)
    assert len(value) == rank, f"{value} should have {rank} numbers."
    return value


class _Conv(HybridBlock):
    """A convolution of `len(kernel_size)` dimensions.

    Weight: (channels, in_channels / groups, kernel…), for a transpose (in_channels,
    channels / groups, kernel…), in the order of `layout`.
    """

    def __init__(self, channels, kernel_size, strides, padding, dilation, groups, layout,
                 in_channels=0, activation=None, use_bias=True, weight_initializer=None,
                 bias_initializer="zeros", op_name="Convolution", adj=None, prefix=None,
                 params=None):
        super().__init__(prefix=prefix, params=params)
        rank = len(kernel_size)
        self._channels = channels
        self._in_channels = in_channels
        self._op_name = op_name
        self._kwargs = {
            "kernel": kernel_size, "stride": tuple_of(strides, rank),
            "dilate": tuple_of(dilation, rank), "pad": tuple_of(padding, rank),
            "num_filter": channels, "num_group": groups, "no_bias": not use_bias,
            "layout": layout}
        if adj is not None:
            self._kwargs["adj"] = tuple_of(adj, rank)
        with self.name_scope():
            self.weight = self.params.get("weight", shape=self._weight_shape(),
                                          init=weight_initializer, allow_deferred_init=True)
            self.bias = self.params.get("bias", shape=(channels,), init=bias_initializer,
                                        allow_deferred_init=True) if use_bias else None
            self.act = None if activation is None else \
                Activation(activation, prefix=activation + "_")

    def _weight_shape(self):
        """The weight's shape as the operator infers it, 0 where the input tells."""
        layout = self._kwargs["layout"]
        extents = [0] * (len(self._kwargs["kernel"]) + 2)
        extents[layout.find("N")] = 1
        extents[layout.find("C")] = self._in_channels
        op = getattr(symbol, self._op_name)(symbol.var("data", shape=tuple(extents)),
                                            **self._kwargs)
        return op.infer_shape_partial()[0][1]

    def hybrid_forward(self, F, x, weight, bias=None):
        op = getattr(F, self._op_name)
        out = op(x, weight, *([] if bias is None else [bias]), name="fwd", **self._kwargs)
        return out if self.act is None else self.act(out)

    def _alias(self):
        return "conv"

    def __repr__(self):
        kwargs, rank = self._kwargs, len(self._kwargs["kernel"])
        shape = self.weight.shape
        inputs = shape[0 if "Transpose" in type(self).__name__ else 1]
        text = f"{inputs or None} -> {self._channels}, kernel_size={kwargs['kernel']}, " \
               f"stride={kwargs['stride']}"
        for key, name, usual in (("pad", "padding", 0), ("dilate", "dilation", 1),
                                 ("adj", "output_padding", 0)):
            if kwargs.get(key, (usual,) * rank) != (usual,) * rank:
                text += f", {name}={kwargs[key]}"
        if kwargs["num_group"] != 1:
            text += f", groups={kwargs['num_group']}"
        if self.bias is None:
            text += ", bias=False"
        if self.act:
            text += f", {self.act}"
        return f"{type(self).__name__}({text})"


def _check_layout(layout, *allowed):
    assert layout in allowed, f"layout is one of {', '.join(allowed)}, not '{layout}'."


class Conv1D(_Conv):
    """Convolution along one axis: (N, C, W) with layout "NCW", or "NWC"."""

    def __init__(self, channels, kernel_size, strides=1, padding=0, dilation=1, groups=1,
                 layout="NCW", activation=None, use_bias=True, weight_initializer=None,
                 bias_initializer="zeros", in_channels=0, **kwargs):
        _check_layout(layout, "NCW", "NWC")
        super().__init__(channels, tuple_of(kernel_size, 1), strides, padding, dilation, groups,
                         layout, in_channels, activation, use_bias, weight_initializer,
                         bias_initializer, **kwargs)


class Conv2D(_Conv):
    """Convolution of pictures: (N, C, H, W) with layout "NCHW", or "NHWC"."""

    def __init__(self, channels, kernel_size, strides=(1, 1), padding=(0, 0), dilation=(1, 1),
                 groups=1, layout="NCHW", activation=None, use_bias=True,
                 weight_initializer=None, bias_initializer="zeros", in_channels=0, **kwargs):
        _check_layout(layout, "NCHW", "NHWC")
        super().__init__(channels, tuple_of(kernel_size, 2), strides, padding, dilation, groups,
                         layout, in_channels, activation, use_bias, weight_initializer,
                         bias_initializer, **kwargs)


class Conv3D(_Conv):
    """Convolution of volumes: (N, C, D, H, W) with layout "NCDHW", or "NDHWC"."""

    def __init__(self, channels, kernel_size, strides=(1, 1, 1), padding=(0, 0, 0),
                 dilation=(1, 1, 1), groups=1, layout="NCDHW", activation=None, use_bias=True,
                 weight_initializer=None, bias_initializer="zeros", in_channels=0, **kwargs):
        _check_layout(layout, "NCDHW", "NDHWC")
        super().__init__(channels, tuple_of(kernel_size, 3), strides, padding, dilation, groups,
                         layout, in_channels, activation, use_bias, weight_initializer,
                         bias_initializer, **kwargs)


class _ConvTranspose(_Conv):
    """The gradient of a convolution as a layer; `output_padding` adds to the outputs' size."""

    _rank = 0
    _layouts = ()

    def __init__(self, channels, kernel_size, strides, padding, output_padding, dilation, groups,
                 layout, activation, use_bias, weight_initializer, bias_initializer, in_channels,
                 **kwargs):
        _check_layout(layout, *self._layouts)
        super().__init__(channels, tuple_of(kernel_size, self._rank), strides, padding, dilation,
                         groups, layout, in_channels, activation, use_bias, weight_initializer,
                         bias_initializer, op_name="Deconvolution", adj=output_padding, **kwargs)
        self.outpad = tuple_of(output_padding, self._rank)


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution along one axis: (N, C, W) with layout "NCW", or "NWC"."""

    _rank, _layouts = 1, ("NCW", "NWC")

    def __init__(self, channels, kernel_size, strides=1, padding=0, output_padding=0, dilation=1,
                 groups=1, layout="NCW", activation=None, use_bias=True, weight_initializer=None,
                 bias_initializer="zeros", in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, output_padding, dilation,
                         groups, layout, activation, use_bias, weight_initializer,
                         bias_initializer, in_channels, **kwargs)


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution of pictures: (N, C, H, W) with layout "NCHW", or "NHWC"."""

    _rank, _layouts = 2, ("NCHW", "NHWC")

    def __init__(self, channels, kernel_size, strides=(1, 1), padding=(0, 0),
                 output_padding=(0, 0), dilation=(1, 1), groups=1, layout="NCHW",
                 activation=None, use_bias=True, weight_initializer=None,
                 bias_initializer="zeros", in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, output_padding, dilation,
                         groups, layout, activation, use_bias, weight_initializer,
                         bias_initializer, in_channels, **kwargs)


class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution of volumes: (N, C, D, H, W) with "NCDHW", or "NDHWC"."""

    _rank, _layouts = 3, ("NCDHW", "NDHWC")

    def __init__(self, channels, kernel_size, strides=(1, 1, 1), padding=(0, 0, 0),
                 output_padding=(0, 0, 0), dilation=(1, 1, 1), groups=1, layout="NCDHW",
                 activation=None, use_bias=True, weight_initializer=None,
                 bias_initializer="zeros", in_channels=0, **kwargs):
        super().__init__(channels, kernel_size, strides, padding, output_padding, dilation,
                         groups, layout, activation, use_bias, weight_initializer,
                         bias_initializer, in_channels, **kwargs)
