# SPDX-License-Identifier: Apache-2.0
"""Executor: a symbol over arrays, compiled as one program, with gradients."""

import weakref

import numpy as np

from .. import _ndarray
from . import _run_sparse, ndarray as nd
from ._run import recorded, runner_of
from .base import MXNetError
from .symbol._infer import output_types
from .symbol._node import walk


def _dict_of(names, arrays, what):
    if len(set(names)) != len(names):
        again = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"Duplicate names detected among {what}: {again}")
    return dict(zip(names, arrays))


class Executor:
    """What a symbol's bind and simple_bind give.

    arg_arrays, grad_arrays (None: no gradient), aux_arrays: in the order of
    list_arguments() and list_auxiliary_states(). outputs: arrays that each
    forward() writes anew.
    """

    def __init__(self, symbol, ctx, arg_arrays, grad_arrays, grad_reqs,
                 aux_arrays, group2ctx=None):
        self._symbol = symbol
        self._argument_names = symbol.list_arguments()
        self._ctx = ctx
        self._group2ctx = group2ctx
        self.arg_arrays = arg_arrays
        self.grad_arrays = grad_arrays
        self.aux_arrays = aux_arrays
        self._grad_reqs = grad_reqs
        self._runner = (_run_sparse.runner_of(symbol, ctx, [*arg_arrays, *aux_arrays])
                        or runner_of(symbol, ctx))
        self._is_sparse = isinstance(self._runner, _run_sparse.SparseRunner)
        self._monitor = None
        self._monitor_all = False
        self._outputs = None
        self._base = lambda: None  # of which it shares the memory
        self._written = None  # outputs in this one's memory, by one that shares it
        self._recorded = None
        self._arguments = [self._argument(*each) for each
                           in zip(arg_arrays, grad_arrays, grad_reqs)]

    def _argument(self, array, grad, req):
        """What forward reads: the array, or where it has a gradient a view that
        is marked as a variable, so that the array itself stays a constant."""
        if grad is None or req == "null":
            return array if self._is_sparse else array._array
        view = array._array.reshape(list(array.shape))
        _ndarray.mark(view, grad._array, req)
        return _run_sparse.view(array, view) if self._is_sparse else view

    # ---- Arrays by name ------------------------------------------------------

    @property
    def arg_dict(self):
        """Arguments by name."""
        return _dict_of(self._argument_names, self.arg_arrays, "arguments")

    @property
    def grad_dict(self):
        """Gradients by the arguments' names; None where there is none."""
        return _dict_of(self._argument_names, self.grad_arrays, "arguments")

    @property
    def aux_dict(self):
        """Auxiliary states by name."""
        return _dict_of(self._symbol.list_auxiliary_states(), self.aux_arrays,
                        "auxiliary states")

    @property
    def output_dict(self):
        """Outputs by name."""
        return _dict_of(self._symbol.list_outputs(), self.outputs, "outputs")

    @property
    def outputs(self):
        """The outputs of the last forward(); zeros before the first. What reshape()
        gave writes over them."""
        if self._outputs is None:
            shapes, types = ({name: getattr(array, part) for name, array
                              in zip(self._symbol.list_arguments(), self.arg_arrays)}
                             for part in ("shape", "dtype"))
            found = output_types(self._symbol, shapes, types)
            if found is None:
                raise MXNetError("the outputs' shapes are not known before "
                                 "forward()")
            self._outputs = [nd.zeros(shape, self._ctx, kind)
                             for shape, kind in found]
        if self._written is not None:
            written, self._written = self._written, None
            for own, over in zip(self._outputs, written):
                count = min(own.size, over.size)
                values = own.copy()  # backward() may read what it was
                values.reshape((-1,))[:count] = over.reshape((-1,))[:count]
                own._array = values._array
        return self._outputs

    # ---- Runs ----------------------------------------------------------------

    def forward(self, is_train=False, **kwargs):
        """Computes the outputs, and returns them. kwargs: new values of
        arguments. is_train: as in training, and backward() may follow."""
        if kwargs:
            self._set(kwargs)
        return self._run(is_train and self._has_gradients(), is_train)

    def _has_gradients(self):
        return any(grad is not None and req != "null"
                   for grad, req in zip(self.grad_arrays, self._grad_reqs))

    def _run(self, wants, is_train):
        """The outputs; wants: recorded."""
        if self._is_sparse:
            return self._forward_sparse(wants, is_train)
        inputs = self._arguments + [array._array for array in self.aux_arrays]
        with recorded(wants, is_train):
            if self._monitor is None:
                arrays = self._runner.run(inputs, is_train)
            else:
                arrays = self._runner.run_watched(inputs, is_train, self._monitor,
                                                  self._monitor_all)
        self._recorded = arrays if wants else None
        self._written = None
        if self._outputs is None:
            self._outputs = [nd.NDArray(array, self._ctx) for array in arrays]
        else:
            for output, array in zip(self._outputs, arrays):
                output._array = array
        base = self._base()
        if base is not None:
            base._written = self._outputs
        return self._outputs

    def _forward_sparse(self, wants, is_train):
        with recorded(wants, is_train):
            self._outputs = self._runner.run_arrays(
                [*self._arguments, *self.aux_arrays], is_train, self._monitor,
                self._monitor_all)
        self._recorded = ([output._array for output in self._outputs] if wants
                          else None)
        return self._outputs

    def _set(self, values):
        arguments = self.arg_dict
        for name, value in values.items():
            if name not in arguments:
                raise TypeError(f"Unknown argument {name}")
            if not isinstance(value, (nd.NDArray, np.ndarray)):
                raise ValueError(f"{name} is {type(value).__name__}, expected an "
                                 "array")
            if arguments[name].shape != value.shape:
                raise ValueError(f"{name} has shape {value.shape}, expected "
                                 f"{arguments[name].shape}")
            arguments[name][:] = value

    def backward(self, out_grads=None, is_train=True):
        """Computes the gradients of the arguments, of the last forward(), which is
        computed again where it was none of training. out_grads: those of the outputs,
        an array, a list or a dict by name; loss layers need none. Gradients beyond the
        outputs are left out."""
        if self._recorded is None:
            if not self._has_gradients():
                return
            if self._outputs is None:
                raise MXNetError("backward needs a forward() before it")
            self._run(True, False)
        grads = self._head_grads(out_grads)
        _ndarray.backward(self._recorded, grads, True, is_train)

    def _head_grads(self, out_grads):
        if out_grads is None:
            return [None] * len(self._recorded)
        if isinstance(out_grads, nd.NDArray):
            out_grads = [out_grads]
        elif isinstance(out_grads, dict):
            out_grads = [out_grads[name] for name in self._symbol.list_outputs()]
        # Those behind are of loss layers.
        out_grads = [*out_grads, *[None] * (len(self._recorded) - len(out_grads))]
        for grad in out_grads:
            if grad is not None and not isinstance(grad, nd.NDArray):
                raise TypeError(f"the gradient of an output is "
                                f"{type(grad).__name__}, expected an NDArray")
        return [_fitting(grad, output, node)
                for grad, output, (node, _) in zip(out_grads, self._recorded,
                                                   self._symbol._heads)]

    def set_monitor_callback(self, callback, monitor_all=False):
        """callback(name as bytes, array) gets every operator's outputs, with
        monitor_all variables and inputs, too; the graph is then computed node by
        node."""
        self._monitor = lambda name, array: callback(name.encode(), array)
        self._monitor_all = monitor_all

    # ---- Parameters and shapes -----------------------------------------------

    def copy_params_from(self, arg_params, aux_params=None,
                         allow_extra_params=False):
        """Copies values by name; names that there are not are an error, unless
        allow_extra_params."""
        for own, given in ((self.arg_dict, arg_params),
                           (self.aux_dict, aux_params or {})):
            for name, array in given.items():
                if name in own:
                    own[name][:] = array.astype(own[name].dtype)
                elif not allow_extra_params:
                    raise ValueError(f"there is no argument {name!r}; "
                                     "allow_extra_params=True leaves it out")

    def reshape(self, partial_shaping=False, allow_up_sizing=False, **kwargs):
        """An executor for other shapes of arguments, which shares this one's
        memory. partial_shaping: shapes of others may follow; allow_up_sizing:
        larger arrays are new."""
        shapes, _, states = self._symbol.infer_shape(**kwargs)
        if shapes is None:
            raise ValueError("these shapes do not tell those of all arguments")
        names = self._symbol.list_arguments()
        arrays, grads = [], []
        for name, shape, array, grad in zip(names, shapes, self.arg_arrays,
                                            self.grad_arrays):
            if shape != array.shape and not (partial_shaping or name in kwargs):
                raise AssertionError(
                    f"{name} had shape {array.shape} and would have {shape}, "
                    "which nobody asked for; partial_shaping=True allows it")
            arrays.append(_resized(array, shape, allow_up_sizing, name))
            grads.append(None if grad is None else
                         _resized(grad, shape, allow_up_sizing, name))
        for name, shape, array in zip(self._symbol.list_auxiliary_states(), states,
                                      self.aux_arrays):
            if shape != array.shape and not partial_shaping:
                raise AssertionError(f"the state {name} had shape {array.shape} "
                                     f"and would have {shape}; "
                                     "partial_shaping=True allows it")
        reshaped = Executor(self._symbol, self._ctx, arrays, grads, self._grad_reqs,
                            [_resized(array, shape, allow_up_sizing, "aux")
                             for array, shape in zip(self.aux_arrays, states)],
                            self._group2ctx)
        reshaped._base = weakref.ref(self)
        return reshaped

    def debug_str(self):
        """The nodes, and the memory of what is computed: the outputs, and where a
        gradient is asked for the values that it is computed of."""
        kept = self._symbol.get_internals() if self._keeps_values() else self._symbol
        shapes, kinds = ({name: getattr(array, part) for name, array
                          in zip(self._argument_names, self.arg_arrays)}
                         for part in ("shape", "dtype"))
        found = output_types(kept, shapes, kinds) or []
        size = sum(int(np.prod(shape)) * np.dtype(kind).itemsize for (node, _), (shape, kind)
                   in zip(kept._heads, found) if node.op is not None)
        return (self._symbol.debug_str()
                + f"Total {size // 2 ** 20} MB allocated\n")

    def _keeps_values(self):
        """Whether a gradient goes from the outputs to an argument."""
        wanted = {name for name, grad, req in zip(self._argument_names, self.grad_arrays,
                                                  self._grad_reqs)
                  if grad is not None and req != "null"}
        reached = walk(self._symbol._heads, lambda node: node.op == "BlockGrad")
        return any(node.op is None and node.name in wanted for node in reached)

    def get_optimized_symbol(self):
        """The symbol that was bound: what the compiler makes of it is no symbol;
        `mxc inspect` shows one."""
        return self._symbol


# Their gradient is 0, whatever arrives.
_CONSTANT = frozenset(("argmax", "argmax_channel", "argmin", "argsort", "shape_array",
                       "size_array"))


def _fitting(grad, output, node):
    """The gradient of an output of the node; none of whole numbers, unless it is like
    them, nor of what does not read it."""
    if grad is None or node.op in _CONSTANT:
        return None
    array = grad._array
    same = (array.dtype, array.shape) == (output.dtype, output.shape)
    if same or output.dtype.startswith(("float", "bfloat")):
        return array if same else grad.astype(output.dtype, copy=False)._array
    return None


def _resized(array, shape, allow_up_sizing, name):
    """The array's memory as one of another shape; new where it is larger."""
    if shape == array.shape:
        return array
    size = int(np.prod(shape))
    if size > array.size:
        if not allow_up_sizing:
            raise AssertionError(
                f"{name} has {array.size} elements and would have {size}; "
                "allow_up_sizing=True makes new arrays")
        return nd.zeros(shape, array.context, array.dtype)
    return array.reshape((-1,))[:size].reshape(shape)
