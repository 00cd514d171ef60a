# SPDX-License-Identifier: Apache-2.0
"""SymbolBlock: a block made of a symbol."""
import os

import numpy as np

from .. import symbol
from ..ndarray import NDArray
from ._nested import flatten, regroup
from .hybrid_block import HybridBlock
from .parameter_dict import ParameterDict
from .utils import indented

__all__ = ["SymbolBlock"]

_ROW_SPARSE = "1"


class SymbolBlock(HybridBlock):
    """The block that computes `outputs` (symbols) from `inputs` (variables in them).

    Every other variable is a parameter, by its own name: of `params` (a ParameterDict)
    where it is there.
    """

    @staticmethod
    def imports(symbol_file, input_names, param_file=None, ctx=None, allow_missing=False,
                ignore_extra=False):
        """The block of a symbol's file (`HybridBlock.export`) and its values, if given."""
        if isinstance(input_names, str):
            input_names = [input_names]
        dtype = {"dtype": np.float32} if param_file is None else {}
        block = SymbolBlock(symbol.load(symbol_file),
                            [symbol.var(name, **dtype) for name in input_names])
        if param_file is not None:
            block.collect_params().load(param_file, ctx, allow_missing, ignore_extra,
                                        cast_dtype=True, dtype_source="saved")
        return block

    def __init__(self, outputs, inputs, params=None):
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        if isinstance(inputs, symbol.Symbol) and len(inputs.list_outputs()) == 1:
            inputs = [inputs]
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        variables, self._in_format = flatten(inputs, "input")
        outs, self._out_format = flatten(outputs, "output")
        out = symbol.Group(outs) if len(outs) > 1 else outs[0]
        names = self._input_names(variables)
        self._refuse_sparse(out)
        self._make_params(out, names, variables)
        self._cached_graph = variables, out
        common = len(os.path.commonprefix(list(self._params.keys())))
        common = self._whole_words(common)
        self._reg_params = {name[common:]: param for name, param in self._params.items()}

    def _whole_words(self, length):
        """`length` of the common prefix, back to its last underscore."""
        first = next(iter(self._params.keys()), "")
        return first[:length].rfind("_") + 1

    @staticmethod
    def _input_names(variables):
        for each in variables:
            assert len(each.get_internals().list_outputs()) == 1, (
                f"The inputs of a SymbolBlock are variables; '{each.name}' is an operator's "
                "output.")
        return {each.name for each in variables}

    @staticmethod
    def _refuse_sparse(out):
        for each in out.get_internals():
            assert each.attr("__storage_type__") != _ROW_SPARSE, (
                f"'{each.name}' is row_sparse: a SymbolBlock's parameters are dense.")

    def _make_params(self, out, names, variables):
        given = {each.name: each.attr("__dtype__") for each in variables}
        types = _types(out, given)
        for name in out.list_arguments():
            if name not in names:
                self.params.get(name, allow_deferred_init=True, dtype=types.get(name, "float32"))
        for name in out.list_auxiliary_states():
            if name not in names:
                self.params.get(name, grad_req="null", allow_deferred_init=True,
                                dtype=types.get(name, "float32"))

    def __repr__(self):
        graph = self._cached_graph[1]
        text = f"<Symbol {graph.name} : {len(graph.list_inputs())} inputs -> " \
               f"{len(graph.list_outputs())} outputs>"
        return f"{type(self).__name__}(\n{indented('  ' + text)}\n)"

    def forward(self, x, *args):
        """Computes with arrays, or with symbols in place of the inputs."""
        if isinstance(x, NDArray):
            with x.context:
                return self._call_cached_op(x, *args)
        given, form = flatten([x, *args], "input")
        assert form == self._in_format, (
            f"This SymbolBlock has inputs of the nesting {self._in_format}, not {form}.")
        variables, out = self._cached_graph
        out = out(**{each.name: value for each, value in zip(variables, given)})
        return regroup(list(out), self._out_format)

    def _clear_cached_op(self):
        graph = self.__dict__.get("_cached_graph", ())
        super()._clear_cached_op()
        self.__dict__["_cached_graph"] = graph

    def cast(self, dtype):
        """Changes the type of parameters and inputs."""
        variables, out = self._cached_graph
        super().cast(dtype)
        code = {"float32": "0", "float64": "1", "float16": "2"}.get(np.dtype(dtype).name)
        if code is not None:
            for each in variables:
                if each.attr("__dtype__") is not None:
                    each._set_attr(__dtype__=code)
        self._cached_graph = variables, out

    def reset_ctx(self, ctx):
        """Moves the parameters to `ctx`."""
        self.params.reset_ctx(ctx)

    def hybrid_forward(self, F, x, *args, **kwargs):
        """None: the symbol is what it computes."""
        raise NotImplementedError("A SymbolBlock computes its symbol.")

    def hybridize(self, active=True, **kwargs):
        """Nothing but a new compilation: its graph is always compiled."""
        super().hybridize(active, **kwargs)


def _types(out, given):
    """Types of variables by name, as far as `given` types of inputs tell them."""
    names = {"0": "float32", "1": "float64", "2": "float16", "3": "uint8", "4": "int32",
             "5": "int8", "6": "int64"}
    known = {name: names[code] for name, code in given.items() if code in names}
    try:
        found, _, auxiliary = out.infer_type(**known)
    except Exception:  # A graph whose types follow from values alone: those of the file.
        return {}
    if found is None:
        return {}
    types = dict(zip(out.list_arguments(), found))
    types.update(zip(out.list_auxiliary_states(), auxiliary))
    return {name: dtype for name, dtype in types.items() if dtype is not None}
