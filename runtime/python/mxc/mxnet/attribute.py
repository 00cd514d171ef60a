# SPDX-License-Identifier: Apache-2.0
"""Attributes for all symbols that are made within a scope."""

from collections import defaultdict

from ._scopes import Scope


class AttrScope(Scope):
    """`with AttrScope(ctx_group="dev1"):` gives each symbol these attributes,
    besides those of scopes around and its own. All values are strings."""

    # How many bodies of loops and branches there are of each name.
    _subgraph_names = defaultdict(int)

    def __init__(self, **kwargs):
        super().__init__()
        for name, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f"attribute {name} must be a string, found "
                                 f"{value!r}")
        self._attr = kwargs

    def get(self, attr):
        """The scope's attributes, overridden by the dict `attr` (or None)."""
        if not self._attr:
            return dict(attr) if attr else {}
        return {**self._attr, **(attr or {})}

    def _entered(self, outer):
        self._own = self._attr
        self._attr = {**outer._attr, **self._attr}
        return self

    def __exit__(self, *exception):
        self._attr = self._own
        super().__exit__(*exception)
