# SPDX-License-Identifier: Apache-2.0
"""A symbol as one program over arrays, for hybridized blocks."""
from .. import autograd, symbol
from .._run import NodeByNode, runner_of
from ..ndarray import NDArray
from ..numpy.multiarray import ndarray
from ..symbol import _operators
from ..symbol.numpy._symbol import _Symbol


class Graph:
    """Calls a symbol with arrays in the order of `names`: arguments, then states.

    One program is compiled for each shape; while autograd records, a call is one record
    of the tape. States, as running means, are updated in training.
    """

    def __init__(self, symbol):
        self.names = symbol.list_arguments() + symbol.list_auxiliary_states()
        self._symbol = symbol
        self._runner = None

    def __call__(self, arrays, hook=None):
        """The outputs for `arrays`; a `hook` sees each node, and nodes run one by one."""
        ctx = arrays[0].context if arrays else None
        inputs = [each._array for each in arrays]
        if hook is None:
            if self._runner is None:
                self._runner = runner_of(self._symbol, ctx)
            outputs = self._runner.run(inputs, autograd.is_training())
        else:
            outputs = _Watched(self._symbol, ctx, hook).run(inputs, autograd.is_training())
        return [NDArray(output, ctx) for output in outputs]


def variable_like(name, array):
    """A variable of mx.sym, or of mx.sym.np for one of mx.np's arrays."""
    variable = symbol.var(name)
    return variable.as_np_ndarray() if isinstance(array, ndarray) else variable


def class_of(output):
    """The class of the arrays that a symbol's values are."""
    return NDArray if type(output) is symbol.Symbol else ndarray


def of_one_kind(outputs):
    """The outputs; TypeError where some are mx.np's, or mx.sym.np's, and others not."""
    several = outputs if isinstance(outputs, (list, tuple)) else ()
    kinds = {isinstance(each, (ndarray, _Symbol)): type(each) for each in several
             if isinstance(each, (NDArray, symbol.Symbol))}
    if len(kinds) > 1:
        raise TypeError("the outputs of a block are all of mx.np or all not, found "
                        + " and ".join(kind.__name__ for kind in kinds.values()))
    return outputs


class OpHook:
    """Calls `callback(name, operator, array)` for a node's outputs, and inputs if
    `everything`; names are bytes, as MXNet gives them."""

    def __init__(self, callback, everything):
        self.callback = callback
        self.everything = everything

    def tell(self, name, node, array):
        """Calls back for one input or output."""
        self.callback(name.encode(), node.op.encode(), array)


class _Watched(NodeByNode):
    def __init__(self, symbol, ctx, hook):
        super().__init__(symbol, ctx)
        self._hook = hook

    def _call(self, node, arrays, training):
        if self._hook.everything:
            for name, array in zip(_input_names(node), arrays):
                self._hook.tell(f"{node.name}_{name}", node, NDArray(array, self._ctx))
        found = super()._call(node, arrays, training)
        for i in range(node.outputs()):
            self._hook.tell(node.output_name(i), node, NDArray(found[i], self._ctx))
        return found


def _input_names(node):
    """As MXNet has them: operators without names for their inputs count them."""
    names = node.signature.inputs
    if node.op == "Activation" or _operators.find(node.op).variadic:
        return [f"input{i}" for i in range(len(names))]
    return names
