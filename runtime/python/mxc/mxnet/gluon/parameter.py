# SPDX-License-Identifier: Apache-2.0
"""One weight of a block: its value and its gradient on each context."""
import warnings

import numpy as np

from .. import autograd, initializer, ndarray, symbol
from .. import context as _context
from ..util import is_np_array
from ._shapes import compatible, known

__all__ = ["Parameter", "Constant", "DeferredInitializationError"]

tensor_types = (symbol.Symbol, ndarray.NDArray)

_STORAGE_TYPES = ("default", "row_sparse", "csr")


class DeferredInitializationError(Exception):
    """A parameter's value was asked for before its shape was known."""


def _name_of(dtype):
    return np.dtype(dtype).name


class Parameter:
    """A weight of a network: `data(ctx)` is its value, `grad(ctx)` its gradient.

    A shape with unknown extents (0, or -1) is completed by the first input that
    reaches the block (`allow_deferred_init`). `grad_req` is "write" (each backward
    replaces the gradient), "add" (adds to it) or "null" (none is kept); `grad_stype`
    "row_sparse" has the rows that were used alone.
    """

    def __init__(self, name, grad_req="write", shape=None, dtype=np.float32, lr_mult=1.0,
                 wd_mult=1.0, init=None, allow_deferred_init=False, differentiable=True,
                 stype="default", grad_stype="default"):
        for what, value in (("stype", stype), ("grad_stype", grad_stype)):
            assert value in _STORAGE_TYPES, (
                f"Parameter '{name}': {what} is one of {_STORAGE_TYPES}, not {value!r}")
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self._var = None
        self._data = None
        self._grad = None
        self._ctx_list = None
        self._trainer = None
        self._deferred_init = ()
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._shape = (shape,) if isinstance(shape, int) else shape
        self._dtype = dtype
        self._stype = stype
        self._grad_stype = grad_stype
        self._grad_req = None
        self.grad_req = grad_req

    def __repr__(self):
        return f"Parameter {self.name} (shape={self.shape}, dtype={self.dtype})"

    # What it is.

    @property
    def grad_req(self):
        """How gradients arrive: "write", "add" or "null"."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req):
        assert req in ("write", "add", "null"), (
            f"Parameter '{self.name}': grad_req is 'write', 'add' or 'null', not {req!r}")
        if not self._differentiable:
            req = "null"
        if self._grad_req == req:
            return
        self._grad_req = req
        if req == "null" and self._grad is not None:
            self._grad = None
            self._data = [each.detach() for each in self._data]
        elif self._data is not None:
            self._init_grad()

    @property
    def dtype(self):
        """The type of its elements; setting it casts value and gradient."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype):
        self.cast(dtype)

    @property
    def shape(self):
        """Its extents, or None; it may be set where extents are unknown."""
        return self._shape

    @shape.setter
    def shape(self, shape):
        if self._shape is None:
            self._shape = shape
            return
        assert compatible(self._shape, shape), (
            f"Parameter '{self.name}' has shape {self._shape}, "
            f"which {shape} does not fit.")
        self._shape = tuple(shape)

    @property
    def stype(self):
        """How its value is stored: "default" is dense."""
        return self._stype

    def var(self):
        """The symbol's variable that stands for it."""
        if self._var is None:
            self._var = symbol.var(self.name, shape=self.shape, dtype=self.dtype,
                                   lr_mult=self.lr_mult, wd_mult=self.wd_mult, init=self.init,
                                   stype=self._stype)
        return self._var.as_np_ndarray() if is_np_array() else self._var

    # How it gets its value.

    def initialize(self, init=None, ctx=None, default_init=initializer.Uniform(),
                   force_reinit=False):
        """Draws its value on each of `ctx` by `init`, its own `init`, or `default_init`."""
        if self._data is not None and not force_reinit:
            warnings.warn(f"Parameter '{self.name}' has a value already and keeps it; "
                          "force_reinit=True draws a new one.", stacklevel=2)
            return
        self._data = self._grad = None
        if ctx is None:
            ctx = [_context.current_context()]
        elif isinstance(ctx, _context.Context):
            ctx = [ctx]
        if init is None:
            init = default_init if self.init is None else self.init
        if not known(self.shape) and not self._allow_deferred_init:
            raise ValueError(f"Parameter '{self.name}' cannot be initialized: its shape "
                             f"{self.shape} has unknown extents.")
        self._deferred_init = (init, list(ctx), default_init, None)
        if known(self.shape):
            self._finish_deferred_init()

    def _finish_deferred_init(self):
        if not self._deferred_init:
            return
        init, ctx, default_init, data = self._deferred_init
        self._deferred_init = ()
        assert known(self.shape), (
            f"Parameter '{self.name}' cannot be initialized: its shape {self.shape} has unknown "
            "extents. Give in_units, in_channels and the like, or an input.")
        with autograd.pause():
            if data is None:
                data = self._draw(init, default_init)
            self._init_impl(data, ctx)

    def _draw(self, init, default_init):
        stype = {} if self._stype == "default" else {"stype": self._stype}
        data = ndarray.zeros(self.shape, dtype=self.dtype, ctx=_context.cpu(), **stype)
        initializer.create(default_init)(
            initializer.InitDesc(self.name, {"__init__": init}), data)
        return data

    def _init_impl(self, data, ctx_list):
        self._ctx_list = list(ctx_list)
        if is_np_array() and data.stype == "default":
            data = data.as_np_ndarray()
        self._data = [data.copyto(ctx) for ctx in self._ctx_list]
        self._init_grad()

    def _init_grad(self):
        if self.grad_req == "null":
            self._grad = None
            return
        extra = {} if self._grad_stype == "default" else {"stype": self._grad_stype}
        self._grad = [ndarray.zeros(each.shape, dtype=each.dtype, ctx=each.context, **extra)
                      for each in self._data]
        if is_np_array() and not extra:
            self._grad = [each.as_np_ndarray() for each in self._grad]
        autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _load_init(self, data, ctx, cast_dtype=False, dtype_source="current"):
        """Takes the value of a file, after checks of shape, type and contexts."""
        data = self._checked(data, cast_dtype, dtype_source)
        if self._stype != data.stype:
            data = data.tostype(self._stype)
        if isinstance(ctx, _context.Context):
            ctx = [ctx]
        if self._data is None:
            if self._deferred_init:
                planned = self._deferred_init[1]
                assert ctx is None or set(ctx) == set(planned), (
                    f"Parameter '{self.name}' cannot be loaded on {ctx}: it was to be "
                    f"initialized on {planned}.")
                ctx = planned
            self._init_impl(data, [_context.cpu()] if ctx is None else ctx)
        else:
            assert ctx is None or set(ctx) == set(self.list_ctx()), (
                f"Parameter '{self.name}' cannot be loaded on {ctx}: it lies on "
                f"{self.list_ctx()}.")
            self.set_data(data)
        self._deferred_init = ()

    def _checked(self, data, cast_dtype, dtype_source):
        assert dtype_source in ("current", "saved"), (
            f"dtype_source is 'current' or 'saved', not {dtype_source!r}")
        if self.shape:
            assert compatible(self.shape, data.shape), (
                f"Parameter '{self.name}' cannot be loaded: it has shape {self.shape}, "
                f"the saved one {data.shape}.")
            self.shape = data.shape
        else:
            self._shape = data.shape
        if not self.dtype or _name_of(self.dtype) == _name_of(data.dtype):
            return data
        assert cast_dtype, (
            f"Parameter '{self.name}' cannot be loaded: it is {_name_of(self.dtype)}, the saved "
            f"one {_name_of(data.dtype)}; cast_dtype=True casts.")
        if dtype_source == "current":
            return data.astype(self.dtype, copy=False)
        self.dtype = data.dtype
        return data

    def set_data(self, data):
        """Sets its value on every context to `data`."""
        self.shape = data.shape
        if self._data is None:
            assert self._deferred_init, f"Parameter '{self.name}' has not been initialized."
            self._deferred_init = self._deferred_init[:3] + (data,)
            return
        trainer = self._trainer
        if trainer and trainer._kv_initialized and trainer._update_on_kvstore:
            if self not in trainer._params_to_init:
                trainer._reset_kvstore()
        for each in self._data:
            if autograd.is_interrupted() and each.stype == "default":
                self._replace(each, data)
            else:
                each[:] = data

    def _replace(self, array, data):
        """A value in other memory: what was recorded keeps the one that it read, and
        its gradient goes where it went."""
        array._array = ndarray.array(data, array.context, array.dtype)._array
        if array._grad is not None:
            autograd.mark_variables(array, array._grad, self.grad_req)
            array._fresh_grad = True

    def reset_ctx(self, ctx):
        """Moves it to other contexts, with the mean of its values."""
        if ctx is None:
            ctx = [_context.current_context()]
        if isinstance(ctx, _context.Context):
            ctx = [ctx]
        if self._data is not None:
            data = self._reduce()
            with autograd.pause():
                self._init_impl(data, ctx)
        elif self._deferred_init:
            init, _, default_init, data = self._deferred_init
            self._deferred_init = (init, list(ctx), default_init, data)
        else:
            raise ValueError(f"Parameter '{self.name}' cannot change its context: it has not "
                             "been initialized.")

    def cast(self, dtype):
        """Changes the type of its elements, of its value and of its gradient."""
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with autograd.pause():
            self._data = [each.astype(dtype) for each in self._data]
            if self._grad is not None:
                self._grad = [each.astype(dtype) for each in self._grad]
                autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _reduce(self):
        """The mean of its values on all contexts, on the host."""
        if self._stype != "default":
            rows = ndarray.arange(0, self.shape[0], dtype="int64", ctx=_context.cpu())
            whole = ndarray.zeros(self.shape, stype="row_sparse", ctx=_context.cpu())
            self._trainer._row_sparse_pull(self, whole, rows, full_idx=True)
            return whole
        values = [each.copyto(_context.cpu()) for each in self.list_data()]
        return values[0] if len(values) == 1 else ndarray.add_n(*values) / len(values)

    # What others read.

    def _check_and_get(self, arrays, ctx):
        if arrays is not None:
            return arrays if ctx is list else self._on(arrays, ctx)
        if self._deferred_init:
            raise DeferredInitializationError(
                f"Parameter '{self.name}' has no value yet: its initialization waits for the "
                "first input, or for in_units, in_channels and the like.")
        raise RuntimeError(
            f"Parameter '{self.name}' has not been initialized. Initialize and train what "
            "Block.collect_params() returns: Block.params lacks the parameters of children.")

    def _on(self, arrays, ctx):
        if ctx is None:
            if len(arrays) == 1:
                return arrays[0]
            ctx = _context.current_context()
        for place, array in zip(self._ctx_list, arrays):
            if place is ctx or _same_memory(place, ctx):
                return array
        raise RuntimeError(f"Parameter '{self.name}' was not initialized on context {ctx}, "
                           f"only on {self._ctx_list}.")

    def data(self, ctx=None):
        """Its value on `ctx` (the only one, or the current)."""
        if self._stype != "default":
            self._must_be_dense("data", "row_sparse_data")
        if self._data is not None and self._ctx_list[0] is ctx:
            return self._data[0]
        return self._check_and_get(self._data, ctx)

    def list_data(self):
        """Its values, one for each context."""
        self._must_be_dense("list_data", "list_row_sparse_data")
        return self._check_and_get(self._data, list)

    def row_sparse_data(self, row_id):
        """The rows `row_id` of its value, on their context."""
        return self._get_row_sparse(self._data, row_id.context, row_id)

    def list_row_sparse_data(self, row_id):
        """The rows `row_id` of its values, one for each context."""
        return self._get_row_sparse(self._data, list, row_id)

    def _get_row_sparse(self, arrays, ctx, row_id):
        if self._stype != "row_sparse":
            raise RuntimeError(f"Parameter '{self.name}' is stored as {self._stype}: its rows "
                               "are part of data().")
        if self._trainer is None:
            raise RuntimeError(f"Parameter '{self.name}' is row_sparse and belongs to no "
                               "Trainer, which keeps its rows.")
        found = self._check_and_get(arrays, ctx)
        self._trainer._row_sparse_pull(self, found, row_id)
        return found

    def _must_be_dense(self, asked, instead):
        if self._stype != "default":
            raise RuntimeError(f"Parameter '{self.name}' is stored as {self._stype}: "
                               f"{instead}() reads it, not {asked}().")

    def grad(self, ctx=None):
        """Its gradient on `ctx` (the only one, or the current)."""
        self._must_have_grad()
        return self._check_and_get(self._grad, ctx)

    def list_grad(self):
        """Its gradients, one for each context."""
        self._must_have_grad()
        return self._check_and_get(self._grad, list)

    def _must_have_grad(self):
        if self._data is not None and self._grad is None:
            raise RuntimeError(f"Parameter '{self.name}' has no gradient: its grad_req is "
                               "'null'.")

    def list_ctx(self):
        """The contexts that it lies on, or will."""
        if self._data is not None:
            return self._ctx_list
        if self._deferred_init:
            return self._deferred_init[1]
        raise RuntimeError(f"Parameter '{self.name}' has not been initialized.")

    def zero_grad(self):
        """Sets its gradients to zero; nothing where it has none."""
        for each in self._grad or ():
            each[:] = 0

    def _set_trainer(self, trainer):
        if self._stype != "default" and self._trainer and trainer and \
                self._trainer is not trainer:
            raise RuntimeError(f"Parameter '{self.name}' is row_sparse and belongs to another "
                               "Trainer already.")
        self._trainer = trainer


def _same_memory(one, other):
    """Host contexts, pinned or not, share memory; so do a device's."""
    return (one.device_id == other.device_id and
            one.device_typeid % 2 == other.device_typeid % 2)


class Constant(Parameter):
    """A value that is no weight: it is saved with the block, never trained."""

    def __init__(self, name, value):
        if not isinstance(value, ndarray.NDArray):
            value = ndarray.array(value)
        self.value = value

        class Init(initializer.Initializer):
            def _init_weight(self, _, arr):
                value.copyto(arr)

        init_name = f"Constant_{name}_{id(self)}"
        Init.__name__ = init_name
        initializer.register(Init)
        super().__init__(name, grad_req="null", shape=value.shape, dtype=value.dtype,
                         init=init_name.lower())

    def __repr__(self):
        return f"Constant {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def grad_req(self):
        """Always "null": a constant has no gradient."""
        return "null"

    @grad_req.setter
    def grad_req(self, req):
        self._grad_req = "null"
        if req not in ("null", "write"):
            warnings.warn(f"Constant '{self.name}' has no gradient: grad_req={req!r} is "
                          "ignored.", stacklevel=2)
