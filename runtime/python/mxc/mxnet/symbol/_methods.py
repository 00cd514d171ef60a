# SPDX-License-Identifier: Apache-2.0
"""Operators as methods: x.sum(axis=1) is sym.sum(x, axis=1)."""

from ._compose import create

# Methods with the operators' own names.
NAMES = """
abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin
argsort broadcast_axes broadcast_like broadcast_to cbrt ceil clip cos cosh degrees
depth_to_space diag exp expand_dims expm1 fix flatten flip floor log log10 log1p log2
log_softmax max mean min nanprod nansum norm one_hot ones_like pad pick prod
radians rcbrt reciprocal relu repeat reshape_like rint round rsqrt shape_array
sigmoid sign sin sinh size_array slice slice_axis slice_like softmax softmin sort
space_to_depth split split_v2 sqrt square squeeze sum swapaxes take tan tanh tile
topk transpose trunc zeros_like
""".split()

# What only arrays with values can do.
REFUSED = """
asnumpy asscalar wait_to_read copy as_in_context detach backward copyto astype_copy
"""


def _method(name):
    def method(self, *args, **kwargs):
        from . import __dict__ as functions
        return functions[name](self, *args, **kwargs)
    method.__name__ = name
    method.__doc__ = f"sym.{name}(self, …)"
    return method


def _refused(name):
    def method(self, *args, **kwargs):
        raise self._not_implemented(name)
    method.__name__ = name
    return method


class Methods:
    """The methods that NDArray has, too."""

    for _name in NAMES:
        locals()[_name] = _method(_name)
    for _name in ("asnumpy", "asscalar", "wait_to_read", "copy", "as_in_context",
                  "detach", "backward"):
        locals()[_name] = _refused(_name)
    del _name

    def reshape(self, *shape, **kwargs):
        """sym.reshape; the extents may be given one by one, too."""
        if shape and "shape" in kwargs:
            raise TypeError("shape is given twice")
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        shape = tuple(kwargs.pop("shape", shape))
        unknown = set(kwargs) - {"reverse", "name", "attr"}
        if unknown:
            raise TypeError(f"Got unknown keywords in reshape: {sorted(unknown)}")
        return create("Reshape", "reshape", (self,), {"shape": shape, **kwargs})

    def astype(self, dtype, **kwargs):
        """The same in another element type."""
        return create("Cast", "cast", (self,), {"dtype": dtype, **kwargs})

    def tostype(self, stype):
        """The same in another storage type: "default", "csr", "row_sparse"."""
        return create("cast_storage", "cast_storage", (self,), {"stype": stype})

    def as_np_ndarray(self):
        """The same output as a symbol of mx.sym.np."""
        from .numpy._symbol import _Symbol
        return _Symbol(self._heads)

    def as_nd_ndarray(self):
        """The symbol itself, whose semantics are those of mx.sym."""
        return self
