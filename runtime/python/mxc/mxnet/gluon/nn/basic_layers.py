# SPDX-License-Identifier: Apache-2.0
"""Containers, fully connected layers, embeddings and functions as blocks."""
import warnings

from ... import ndarray, symbol
from ..block import Block, HybridBlock
from ..utils import indented
from .activations import Activation

__all__ = ["Sequential", "HybridSequential", "Dense", "Dropout", "Embedding", "Flatten",
           "Lambda", "HybridLambda"]


class _Chain:
    """What both containers have: children in order, each the next one's input."""

    def add(self, *blocks):
        """Appends blocks."""
        for block in blocks:
            self.register_child(block)

    def __repr__(self):
        lines = "\n".join(f"  ({key}): {indented(repr(child))}"
                          for key, child in self._children.items())
        return f"{type(self).__name__}(\n{lines}\n)"

    def __getitem__(self, key):
        layers = list(self._children.values())[key]
        if not isinstance(layers, list):
            return layers
        net = type(self)(prefix=self._prefix)
        with net.name_scope():
            net.add(*layers)
        return net

    def __len__(self):
        return len(self._children)

    def __iter__(self):
        return iter(self._children.values())

    def _chain(self, x, args):
        for block in self._children.values():
            x = block(x, *args)
            args = []
            if isinstance(x, (tuple, list)):
                args = x[1:]
                x = x[0]
        return [x, *args] if args else x


class Sequential(_Chain, Block):
    """Blocks one after the other; `add` appends, `net[1:3]` is a part."""

    def forward(self, x, *args):
        return self._chain(x, args)

    def hybridize(self, active=True, **kwargs):
        """Compiles each child that can be."""
        if self._children and all(isinstance(child, HybridBlock)
                                  for child in self._children.values()):
            warnings.warn(f"All layers of {self.prefix} are HybridBlocks: as a HybridSequential "
                          "they would be one program.", stacklevel=2)
        super().hybridize(active, **kwargs)


class HybridSequential(_Chain, HybridBlock):
    """Hybrid blocks one after the other, one program when hybridized."""

    def hybrid_forward(self, F, x, *args):
        return self._chain(x, args)


class Dense(HybridBlock):
    """activation(x Wᵀ + b): `units` outputs of each sample.

    With `flatten` a sample is all axes but the first; else the last axis. Weight:
    (units, in_units), where `in_units` = 0 is told by the first input.
    """

    def __init__(self, units, activation=None, use_bias=True, flatten=True, dtype="float32",
                 weight_initializer=None, bias_initializer="zeros", in_units=0, **kwargs):
        super().__init__(**kwargs)
        self._flatten = flatten
        self._units = units
        self._in_units = in_units
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(units, in_units), dtype=dtype,
                                          init=weight_initializer, allow_deferred_init=True)
            self.bias = self.params.get("bias", shape=(units,), dtype=dtype,
                                        init=bias_initializer, allow_deferred_init=True) \
                if use_bias else None
            self.act = None if activation is None else \
                Activation(activation, prefix=activation + "_")

    def hybrid_forward(self, F, x, weight, bias=None):
        out = F.FullyConnected(x, weight, *([] if bias is None else [bias]),
                               no_bias=bias is None, num_hidden=self._units,
                               flatten=self._flatten, name="fwd")
        return out if self.act is None else self.act(out)

    def __repr__(self):
        units, in_units = self.weight.shape
        return f"{type(self).__name__}({in_units or None} -> {units}, {self.act or 'linear'})"


class Dropout(HybridBlock):
    """In training, zeros of each element with probability `rate`, the rest over 1 - rate.

    Elements along `axes` share their fate."""

    def __init__(self, rate, axes=(), **kwargs):
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F, x):
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return F.identity(x)

    def __repr__(self):
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Row x of a table (input_dim, output_dim), for each element of x.

    With `sparse_grad` the gradient is row_sparse: of the rows that were used."""

    def __init__(self, input_dim, output_dim, dtype="float32", weight_initializer=None,
                 sparse_grad=False, **kwargs):
        super().__init__(**kwargs)
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._kwargs = {"input_dim": input_dim, "output_dim": output_dim, "dtype": dtype,
                        "sparse_grad": sparse_grad}
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype,
                allow_deferred_init=True,
                grad_stype="row_sparse" if sparse_grad else "default")

    def hybrid_forward(self, F, x, weight):
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self):
        return (f"{type(self).__name__}({self._input_dim} -> {self._output_dim}, "
                f"{self._kwargs['dtype']})")


class Flatten(HybridBlock):
    """(N, a, b, …) as (N, a b …)."""

    def hybrid_forward(self, F, x):
        return F.Flatten(x)

    def __repr__(self):
        return type(self).__name__


class Lambda(Block):
    """A function of arrays, or the name of one in `mx.nd`, as a block."""

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            assert hasattr(ndarray, function), f"mx.nd has no function '{function}'."
            self._func_impl = getattr(ndarray, function)
        elif callable(function):
            self._func_impl = function
        else:
            raise ValueError(f"Lambda wants a function or its name, not {function!r}.")

    def forward(self, *args):
        return self._func_impl(*args)

    def __repr__(self):
        return f"{type(self).__name__}({self._func_impl.__name__})"


class HybridLambda(HybridBlock):
    """A function `f(F, x, …)`, or the name of one in `mx.nd` and `mx.sym`, as a block."""

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            assert hasattr(ndarray, function) and hasattr(symbol, function), (
                f"mx.nd and mx.sym have no function '{function}'.")
            self._func = lambda F, *args: getattr(F, function)(*args)
            self._func_name = function
        elif callable(function):
            self._func = function
            self._func_name = getattr(function, "__name__", type(function).__name__)
        else:
            raise ValueError(f"HybridLambda wants a function or its name, not {function!r}.")

    def hybrid_forward(self, F, x, *args):
        return self._func(F, x, *args)

    def __repr__(self):
        return f"{type(self).__name__}({self._func_name})"
