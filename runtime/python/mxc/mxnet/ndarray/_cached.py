# SPDX-License-Identifier: Apache-2.0
"""Symbols that are called like operators."""

from .ndarray import NDArray

__all__ = ["CachedOp"]


class CachedOp:
    """A symbol as a function of arrays, in the order of its list_inputs(); compiled
    for their types. `flags` are MXNet's, and change nothing."""

    def __init__(self, sym, flags=(), thread_safe=False):
        self._symbol = sym
        names = sym.list_inputs()
        places = {name: place for place, name in enumerate(names)}
        self._names = names
        self._order = [places[name] for name in [*sym.list_arguments(),
                                                 *sym.list_auxiliary_states()]]
        self._runners = {}

    def __call__(self, *args, out=None, default_ctx=None, **kwargs):
        from .. import autograd
        from .._run import runner_of
        if kwargs:
            raise TypeError(f"a symbol's inputs are given by position, not as "
                            f"'{next(iter(kwargs))}'")
        if len(args) != len(self._names):
            raise TypeError(f"the symbol has {len(self._names)} inputs, and {len(args)} "
                            "are given")
        ctx = args[0].context if args else default_ctx
        if ctx not in self._runners:
            self._runners[ctx] = runner_of(self._symbol, ctx)
        arrays = self._runners[ctx].run([args[place]._array for place in self._order],
                                        autograd.is_training())
        results = [NDArray(array, ctx) for array in arrays]
        if out is not None:
            for result, given in zip(results, [out] if isinstance(out, NDArray) else
                                     out):
                given._assign(result)
            return out
        return results[0] if len(results) == 1 else results
