# SPDX-License-Identifier: Apache-2.0
"""Methods of arrays that are operators over them."""

from . import _arithmetic
from ._invoke import TABLE

_OPERATORS = """abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel
argmin argsort broadcast_axes broadcast_like cbrt ceil clip cos cosh degrees
depth_to_space diag exp expm1 fix flip floor log log10 log1p log2 log_softmax max mean
min nanprod nansum norm one_hot ones_like pad pick prod radians rcbrt reciprocal relu
repeat reshape_like rint round rsqrt shape_array sigmoid sign sin sinh size_array slice
slice_axis slice_like softmax softmin sort space_to_depth split split_v2 sqrt square sum
swapaxes take tan tanh tile topk trunc zeros_like""".split()


def _method(name, function):
    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"mx.nd.{name} of it."
    return method


def _transpose(function):
    def transpose(self, *axes, **kwargs):
        """Its axes in another order; without one, the other way round."""
        if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
            axes = axes[0]
        axes = kwargs.pop("axes", axes)
        return function(self, axes=tuple(axes or ()), **kwargs)
    return transpose


def _viewed(function, reshape):
    """A method that with `inplace=True` gives a view."""
    def method(self, *args, inplace=False, **kwargs):
        result = function(self, *args, **kwargs)
        return reshape(self, result.shape) if inplace else result
    method.__doc__ = "Another shape; inplace=True: a view."
    return method


def _broadcast_to(function):
    def broadcast_to(self, shape):
        """Axes of extent 1 become those of `shape`, which 0 leaves alone; new axes
        come first."""
        here = self
        if len(shape) > self.ndim:
            here = self.reshape((1,) * (len(shape) - self.ndim) + self.shape)
        return function(here, shape=tuple(shape))
    return broadcast_to


def install(cls, functions, of_table):
    """Gives a class of arrays its methods, from mx.nd's functions by name; `of_table`:
    those that are operators as the table has them."""
    for name in _OPERATORS:
        method = _method(name, functions[name])
        if functions[name] is of_table.get(name) and len(TABLE[name]["inputs"]) == 1:
            method = _arithmetic.METHODS.unary(name, method)
        setattr(cls, name, method)
    cls.transpose = _transpose(functions["transpose"])
    cls.broadcast_to = _broadcast_to(functions["broadcast_to"])
    for name in ("expand_dims", "squeeze", "flatten"):
        setattr(cls, name, _viewed(functions[name], cls.reshape))
