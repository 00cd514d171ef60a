# SPDX-License-Identifier: Apache-2.0
"""Pooling of one to three dimensions, and padding by reflection."""
from ..block import HybridBlock
from .conv_layers import _check_layout, tuple_of

__all__ = ["MaxPool1D", "MaxPool2D", "MaxPool3D", "AvgPool1D", "AvgPool2D", "AvgPool3D",
           "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPool3D", "GlobalAvgPool1D",
           "GlobalAvgPool2D", "GlobalAvgPool3D", "ReflectionPad2D"]

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


class _Pooling(HybridBlock):
    """Windows of `pool_size` that move by `strides` (None: no overlap).

    `ceil_mode` keeps a last window that is not full; `count_include_pad` counts padding
    in a mean."""

    def __init__(self, pool_size, strides, padding, ceil_mode, global_pool, pool_type, layout,
                 count_include_pad=None, **kwargs):
        super().__init__(**kwargs)
        rank = len(pool_size)
        _check_layout(layout, *_LAYOUTS[rank])
        self._kwargs = {
            "kernel": pool_size,
            "stride": tuple_of(pool_size if strides is None else strides, rank),
            "pad": tuple_of(padding, rank), "global_pool": global_pool, "pool_type": pool_type,
            "layout": layout, "pooling_convention": "full" if ceil_mode else "valid"}
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self):
        return "pool"

    def hybrid_forward(self, F, x):
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self):
        kwargs = self._kwargs
        return (f"{type(self).__name__}(size={kwargs['kernel']}, stride={kwargs['stride']}, "
                f"padding={kwargs['pad']}, ceil_mode={kwargs['pooling_convention'] == 'full'}, "
                f"global_pool={kwargs['global_pool']}, pool_type={kwargs['pool_type']}, "
                f"layout={kwargs['layout']})")


class MaxPool1D(_Pooling):
    """The maximum of windows along one axis."""

    def __init__(self, pool_size=2, strides=None, padding=0, layout="NCW", ceil_mode=False,
                 **kwargs):
        super().__init__(tuple_of(pool_size, 1), strides, padding, ceil_mode, False, "max",
                         layout, **kwargs)


class MaxPool2D(_Pooling):
    """The maximum of windows of pictures."""

    def __init__(self, pool_size=(2, 2), strides=None, padding=0, layout="NCHW",
                 ceil_mode=False, **kwargs):
        super().__init__(tuple_of(pool_size, 2), strides, padding, ceil_mode, False, "max",
                         layout, **kwargs)


class MaxPool3D(_Pooling):
    """The maximum of windows of volumes."""

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding=0, ceil_mode=False,
                 layout="NCDHW", **kwargs):
        super().__init__(tuple_of(pool_size, 3), strides, padding, ceil_mode, False, "max",
                         layout, **kwargs)


class AvgPool1D(_Pooling):
    """The mean of windows along one axis."""

    def __init__(self, pool_size=2, strides=None, padding=0, layout="NCW", ceil_mode=False,
                 count_include_pad=True, **kwargs):
        super().__init__(tuple_of(pool_size, 1), strides, padding, ceil_mode, False, "avg",
                         layout, count_include_pad, **kwargs)


class AvgPool2D(_Pooling):
    """The mean of windows of pictures."""

    def __init__(self, pool_size=(2, 2), strides=None, padding=0, ceil_mode=False,
                 layout="NCHW", count_include_pad=True, **kwargs):
        super().__init__(tuple_of(pool_size, 2), strides, padding, ceil_mode, False, "avg",
                         layout, count_include_pad, **kwargs)


class AvgPool3D(_Pooling):
    """The mean of windows of volumes."""

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding=0, ceil_mode=False,
                 layout="NCDHW", count_include_pad=True, **kwargs):
        super().__init__(tuple_of(pool_size, 3), strides, padding, ceil_mode, False, "avg",
                         layout, count_include_pad, **kwargs)


class _GlobalPooling(_Pooling):
    _pool_type, _rank = "", 0

    def __init__(self, layout=None, **kwargs):
        rank = self._rank
        super().__init__((1,) * rank, None, 0, True, True, self._pool_type,
                         layout or _LAYOUTS[rank][0], **kwargs)


class GlobalMaxPool1D(_GlobalPooling):
    """The maximum along one axis."""

    _pool_type, _rank = "max", 1


class GlobalMaxPool2D(_GlobalPooling):
    """The maximum of each channel of a picture."""

    _pool_type, _rank = "max", 2


class GlobalMaxPool3D(_GlobalPooling):
    """The maximum of each channel of a volume."""

    _pool_type, _rank = "max", 3


class GlobalAvgPool1D(_GlobalPooling):
    """The mean along one axis."""

    _pool_type, _rank = "avg", 1


class GlobalAvgPool2D(_GlobalPooling):
    """The mean of each channel of a picture."""

    _pool_type, _rank = "avg", 2


class GlobalAvgPool3D(_GlobalPooling):
    """The mean of each channel of a volume."""

    _pool_type, _rank = "avg", 3


class ReflectionPad2D(HybridBlock):
    """`padding` pixels (or 8 numbers, two for each axis) that mirror what is within."""

    def __init__(self, padding=0, **kwargs):
        super().__init__(**kwargs)
        if isinstance(padding, int):
            padding = (0, 0, 0, 0, padding, padding, padding, padding)
        assert len(padding) == 8, f"padding has two numbers for each of 4 axes, not {padding}."
        self._padding = padding

    def hybrid_forward(self, F, x):
        return F.pad(x, mode="reflect", pad_width=self._padding)
