# SPDX-License-Identifier: Apache-2.0
"""Names of blocks and of their parameters."""
import threading
import weakref

from .. import name as _name
from .parameter_dict import ParameterDict


class BlockScope:
    """Within it, blocks that are made take their names and parameters from `block`.

    The second Dense of a block named `net_` is `net_dense1_`. Threads have scopes of
    their own.
    """

    _current = threading.local()

    def __init__(self, block, owned=False):
        # A scope that its block owns must not keep it alive.
        self._block = weakref.ref(block) if owned else lambda: block
        self._counts = {}
        self._outer = []

    @classmethod
    def create(cls, prefix, params, hint):
        """(prefix, parameters) of a block that is being made."""
        scope = getattr(cls._current, "value", None)
        if scope is None:
            if prefix is None:
                prefix = _name.NameManager.current.get(None, hint) + "_"
            params = ParameterDict(prefix) if params is None else \
                ParameterDict(params.prefix, params)
            return prefix, params
        if prefix is None:
            count = scope._counts.get(hint, 0)
            scope._counts[hint] = count + 1
            prefix = f"{hint}{count}_"
        parent = scope._block()
        params = ParameterDict(parent.params.prefix + prefix, parent.params._shared) \
            if params is None else ParameterDict(params.prefix, params)
        return parent.prefix + prefix, params

    def __enter__(self):
        block = self._block()
        if block._empty_prefix:
            self._outer.append(None)
            return self
        names = _name.Prefix(block.prefix)
        self._outer.append((getattr(self._current, "value", None), names))
        BlockScope._current.value = self
        names.__enter__()
        return self

    def __exit__(self, kind, value, trace):
        entered = self._outer.pop()
        if entered is None:
            return
        outer, names = entered
        names.__exit__(kind, value, trace)
        BlockScope._current.value = outer
