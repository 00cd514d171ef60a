# SPDX-License-Identifier: Apache-2.0
"""Values that `with` sets for one thread."""

import threading


class _CurrentOfThread(type):
    """Gives classes an attribute `current`: each thread's own, made by the class
    where a thread has none yet."""

    @property
    def current(cls):
        """The innermost scope of this thread."""
        if getattr(cls._scopes, "value", None) is None:
            cls._scopes.value = cls._base()
        return cls._scopes.value

    @current.setter
    def current(cls, value):
        cls._scopes.value = value


class Scope(metaclass=_CurrentOfThread):
    """A context manager; subclasses of one base share the current one."""

    _scopes = threading.local()
    _base = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if Scope in cls.__bases__:
            cls._scopes = threading.local()
            cls._base = cls

    def __enter__(self):
        self._outer = type(self).current
        type(self).current = self._entered(self._outer)
        return self

    def _entered(self, outer):
        """What is current inside; `outer` is what was."""
        return self

    def __exit__(self, *exception):
        type(self).current = self._outer
