# SPDX-License-Identifier: Apache-2.0
"""HybridBlock: a block whose computation is one program once it is hybridized."""
import warnings

from .. import autograd, ndarray, symbol
from .._numpy._call import Untraceable, is_empty
from ..base import MXNetError
from ..ndarray import NDArray
from ..symbol import Symbol
from ._graph import Graph, OpHook, class_of, of_one_kind, variable_like
from ._nested import ARRAY, flatten, regroup, without_trailing_nothing
from .block import Block
from .parameter import DeferredInitializationError

__all__ = ["HybridBlock"]


class HybridBlock(Block):
    """A block that computes with arrays or with symbols, by `hybrid_forward(F, x, …)`.

    `F` is `mx.nd` or `mx.sym`. After `hybridize()` the first call traces it with symbols,
    and calls run the compiled graph. Inputs are arrays, None or nested lists of them.
    """

    def __init__(self, prefix=None, params=None):
        self._graph = None           # of arrays, once compiled
        self._plain_inputs = None    # how many arrays it takes, if nothing but arrays
        self._cached_graph = ()      # (input symbols, output symbol), once traced
        self._in_format = None
        self._out_format = None
        self._active = False
        self._traceable = True       # until it asks for what symbols do not have
        self._classes = []           # of the outputs' arrays
        self._flags = []
        self._op_hook = None
        super().__init__(prefix=prefix, params=params)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if isinstance(value, HybridBlock):
            self._clear_cached_op()

    def register_child(self, block, name=None):
        """Makes `block`, which must be hybrid, too, a child."""
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"{self.name} is a HybridBlock and can only have such children; {block.name} is "
                f"a {type(block).__name__}. HybridSequential is the hybrid form of Sequential.")
        super().register_child(block, name)
        self._clear_cached_op()

    def hybridize(self, active=True, backend=None, clear=True, static_alloc=False,
                  static_shape=False, inline_limit=2, forward_bulk_size=None,
                  backward_bulk_size=None, **kwargs):
        """Compiles at the next call, or with `active=False` runs operator by operator again.

        What MXNet's users tune (`static_alloc` and the like) is the planner's own decision
        here; a `backend` is refused."""
        del inline_limit, forward_bulk_size, backward_bulk_size
        if backend is not None:
            raise NotImplementedError(f"hybridize knows no backend '{backend}': mxc compiles "
                                      "whole graphs itself.")
        self._active = active
        self._flags = [("static_alloc", static_alloc), ("static_shape", static_shape)]
        if clear:
            self._clear_cached_op()
        for hooks in (self._forward_hooks, self._forward_pre_hooks) if active else ():
            if hooks:
                warnings.warn(f"{self.name} has hooks: those of blocks within a hybridized one "
                              "are not called.", stacklevel=2)
                break
        super().hybridize(active, static_alloc=static_alloc, static_shape=static_shape, **kwargs)

    def optimize_for(self, x, *args, backend=None, clear=False, **kwargs):
        """Hybridizes and compiles for inputs like `x`, without running; see `hybridize`."""
        self.hybridize(True, backend=backend, clear=clear, **kwargs)
        if not self._cached_graph or self._graph is None:
            self._build_cache(x, *args)

    def cast(self, dtype):
        """Changes the type of all parameters."""
        self._clear_cached_op()
        super().cast(dtype)

    def _clear_cached_op(self):
        self.__dict__["_graph"] = None
        self.__dict__["_plain_inputs"] = None
        self.__dict__["_cached_graph"] = ()
        self.__dict__["_traceable"] = True

    # Tracing.

    def _get_graph(self, *args):
        """(input symbols, output symbol) of a call with `args`."""
        if not self._cached_graph:
            flat, self._in_format = flatten(list(args), "input")
            names = ["data"] if len(flat) == 1 else [f"data{i}" for i in range(len(flat))]
            inputs = [None if each is None else variable_like(name, each)
                      for name, each in zip(names, flat)]
            params = {name: param.var() for name, param in self._reg_params.items()}
            with self.name_scope():
                out = self.hybrid_forward(symbol, *regroup(inputs, self._in_format), **params)
            outs, self._out_format = flatten(of_one_kind(out), "output")
            self._classes = [class_of(each) for each in outs if each is not None]
            out = outs[0] if len(outs) == 1 else symbol.Group([o for o in outs if o is not None])
            self._cached_graph = [each for each in inputs if each is not None], out
        return self._cached_graph

    def _build_cache(self, *args):
        inputs, out = self._get_graph(*args)
        graph = Graph(out)
        params = dict(self.collect_params().items())
        positions = {each.name: i for i, each in enumerate(inputs)}
        for name in graph.names:
            assert name in positions or name in params, (
                f"{self.name} uses '{name}', which is neither an input nor a parameter.")
        for name, position in positions.items():
            if name not in graph.names:
                warnings.warn(f"Input {position} of {self.name} is not used in its computation.",
                              stacklevel=4)
        unused = [name for name in params if name not in graph.names]
        if unused:
            warnings.warn(f"Parameters of {self.name} are not used in its computation: "
                          f"{', '.join(unused)}.", stacklevel=4)
        # Each of the graph's inputs: a position among the call's arrays, or a parameter.
        self._sources = [positions.get(name, params.get(name)) for name in graph.names]
        self._graph = graph
        self._plain_inputs = None if any(each != ARRAY for each in self._in_format) else \
            len(self._in_format)

    def _call_cached_op(self, *args):
        flat, form = flatten(list(args), "input")
        if self._graph is None:
            self._build_cache(*args)
        if without_trailing_nothing(form) != without_trailing_nothing(self._in_format):
            raise ValueError(f"{self.name} was compiled for inputs of the nesting "
                             f"{self._in_format}; these have {form}. hybridize() again allows "
                             "others.")
        return self._run([each for each in flat if each is not None], args)

    def _run(self, arrays, args):
        """Calls the graph with the arrays of `args`."""
        try:
            inputs = self._inputs(arrays)
        except DeferredInitializationError:
            self._deferred_infer_shape(*args)
            for source in self._sources:
                if not isinstance(source, int):
                    source._finish_deferred_init()
            inputs = self._inputs(arrays)
        outputs = self._graph(inputs, self._op_hook)
        classes = self._classes or [type(arrays[0])] * len(outputs)
        outputs = [each if cls is NDArray else cls(each._array, each.context)
                   for cls, each in zip(classes, outputs)]
        if self._out_format is None or isinstance(self._out_format, int):
            return outputs[0] if len(outputs) == 1 else outputs
        return regroup(outputs, self._out_format)

    def _inputs(self, arrays):
        ctx = arrays[0].context
        return [arrays[source] if isinstance(source, int) else source.data(ctx)
                for source in self._sources]

    # Shapes.

    def _deferred_infer_shape(self, *args):
        try:
            self.infer_shape(*args)
        except Exception as error:
            if not (self._active and self._children):
                raise ValueError(f"{self.name}: its parameters' shapes do not follow from "
                                 f"the inputs: {error}") from error
            self._infer_step_by_step(args)

    def _infer_step_by_step(self, args):
        """Each child's parameters by the arrays that reach it: where two unknown shapes
        meet, as in both directions of a recurrent layer, the whole graph's do not tell."""
        active = []
        self.apply(lambda block: active.append(block) if getattr(block, "_active", False)
                   else None)
        for block in active:
            block._active = False
        try:
            with autograd.pause():
                self.forward(*args)
        finally:
            for block in active:
                block._active = True

    def infer_shape(self, *args):
        """Sets the shapes of all parameters by those of inputs like `args`."""
        self._infer_attrs("infer_shape", "shape", *args)

    def infer_type(self, *args):
        """Sets the types of all parameters by those of inputs like `args`."""
        self._infer_attrs("infer_type", "dtype", *args)

    def _infer_attrs(self, infer, attr, *args):
        inputs, out = self._get_graph(*args)
        arrays = [each for each in flatten(list(args), "input")[0] if each is not None]
        known = {each.name: getattr(array, attr) for each, array in zip(inputs, arrays)}
        found, _, auxiliary = getattr(out, infer)(**known)
        if found is None:
            raise ValueError(f"{attr} of a parameter cannot be told from the inputs.")
        values = dict(zip(out.list_arguments(), found))
        values.update(zip(out.list_auxiliary_states(), auxiliary))
        for name, param in self.collect_params().items():
            if name in values:
                setattr(param, attr, values[name])

    # Files.

    def export(self, path, epoch=0, remove_amp_cast=True):
        """Writes `path-symbol.json` and `path-%04d.params`; returns both names.

        The block must have been hybridized and called. `SymbolBlock.imports`, `mx.mod` and
        `mxc compile` read them."""
        if not self._cached_graph:
            raise RuntimeError(f"{self.name} has no graph to export yet: call hybridize(), then "
                               "the block with an input.")
        graph = self._cached_graph[1]
        symbol_file, params_file = f"{path}-symbol.json", f"{path}-{epoch:04d}.params"
        graph.save(symbol_file, remove_amp_cast=remove_amp_cast)
        arguments = set(graph.list_arguments())
        auxiliary = set(graph.list_auxiliary_states())
        values = {}
        for name, param in self.collect_params().items():
            if name in arguments:
                values["arg:" + name] = param._reduce()
            elif name in auxiliary:
                values["aux:" + name] = param._reduce()
            else:
                warnings.warn(f"Parameter '{name}' is not used in the graph of {self.name} and "
                              "is not exported.", stacklevel=2)
        ndarray.save(params_file, values)
        return symbol_file, params_file

    # Calls.

    def forward(self, x, *args):
        """Computes with arrays, or with symbols; a subclass has `hybrid_forward`."""
        arrays = (x, *args)
        if self._active and self._plain_inputs == len(arrays) and \
                all(isinstance(each, NDArray) for each in arrays):
            self._check_contexts(arrays)
            return self._traced(arrays, arrays, self._run, arrays, arrays)
        kinds = {type_of for each in _leaves([x, *args])
                 for type_of in (NDArray, Symbol) if isinstance(each, type_of)}
        if len(kinds) != 1:
            raise ValueError(f"{self.name} wants arrays or symbols, and not both; its inputs "
                             f"have {'both' if kinds else 'neither'}.")
        if Symbol in kinds:
            params = {name: param.var() for name, param in self._reg_params.items()}
            with self.name_scope():
                return self.hybrid_forward(symbol, x, *args, **params)
        arrays = [each for each in _leaves([x, *args]) if isinstance(each, NDArray)]
        if self._active and self._traceable:
            self._check_contexts(arrays)
            with arrays[0].context:
                return self._traced(arrays, (x, *args), self._call_cached_op, x, *args)
        return self._step_by_step(arrays[0].context, x, *args)

    def _traced(self, arrays, args, call, *call_args):
        """call(*call_args), or step by step where a graph cannot compute it: operators
        called one by one take arrays without elements, too."""
        try:
            if not is_empty(arrays):
                return call(*call_args)
        except Untraceable:
            self._traceable = False
        except MXNetError:
            if not isinstance(arrays[0], ndarray.np.ndarray):
                raise
        return self._step_by_step(arrays[0].context, *args)

    def _step_by_step(self, ctx, x, *args):
        with ctx:
            return of_one_kind(self.hybrid_forward(ndarray, x, *args,
                                                   **self._values(ctx, x, *args)))

    def _values(self, ctx, *args):
        try:
            return {name: param.data(ctx) for name, param in self._reg_params.items()}
        except DeferredInitializationError:
            self._deferred_infer_shape(*args)
            for param in self.params.values():
                param._finish_deferred_init()
            return {name: param.data(ctx) for name, param in self._reg_params.items()}

    def _check_contexts(self, arrays):
        first = arrays[0].context
        if all(each.context is first for each in arrays):
            return
        places = {(each.context.device_typeid % 2, each.context.device_id) for each in arrays}
        if len(places) > 1:
            raise ValueError(f"The inputs of {self.name} lie on several contexts: "
                             f"{sorted({str(each.context) for each in arrays})}.")

    def hybrid_forward(self, F, x, *args, **kwargs):
        """Computes with `F`, `mx.nd` or `mx.sym`; parameters come by the attributes' names."""
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward.")

    def register_op_hook(self, callback, monitor_all=False):
        """`callback(name, operator, array)` is called with outputs of operators, with
        `monitor_all` with their inputs, too; graphs then run node by node."""
        self._op_hook = OpHook(callback, monitor_all)
        super().register_op_hook(callback, monitor_all)


def _leaves(value):
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _leaves(each)
    else:
        yield value
