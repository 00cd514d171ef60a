# SPDX-License-Identifier: Apache-2.0
"""Names for symbols that are made without one."""

from ._scopes import Scope


class NameManager(Scope):
    """Counts: the n-th symbol of a hint is called f"{hint}{n}"."""

    def __init__(self):
        self._counter = {}

    def get(self, name, hint):
        """`name`, or where it is None or empty the next one for `hint`."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"


class Prefix(NameManager):
    """Puts `prefix` before every name, given or made."""

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        return self._prefix + super().get(name, hint)
