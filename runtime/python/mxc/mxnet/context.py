# SPDX-License-Identifier: Apache-2.0
"""Where arrays lie: `cpu(0)` and its other names. There is no GPU here."""

import threading

from .base import MXNetError

__all__ = ["Context", "cpu", "cpu_pinned", "gpu", "gpu_memory_info", "num_gpus",
           "current_context"]


class _ContextType(type):
    """`Context.default_ctx` is that of the thread that asks."""

    @property
    def default_ctx(cls):
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, ctx):
        set_default_context(ctx)


class Context(metaclass=_ContextType):
    """A device and its number. As `with` block: where new arrays lie by default."""

    devtype2str = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type = {name: number for number, name in devtype2str.items()}
    _scopes = threading.local()

    def __init__(self, device_type, device_id=0):
        if isinstance(device_type, Context):
            device_type, device_id = (device_type.device_type,
                                      device_type.device_id)
        self.device_typeid = self.devstr2type[device_type]
        self.device_id = device_id

    @property
    def device_type(self):
        """"cpu", "gpu", "cpu_pinned" or "cpu_shared"."""
        return self.devtype2str[self.device_typeid]

    def __hash__(self):
        return hash((self.device_typeid, self.device_id))

    def __eq__(self, other):
        return (isinstance(other, Context) and
                self.device_typeid == other.device_typeid and
                self.device_id == other.device_id)

    def __str__(self):
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, *_):
        _stack().pop()

    def empty_cache(self):
        """Nothing is kept that could be given back."""

    def check(self):
        """Raises MXNetError where nothing can lie."""
        if self.device_type == "gpu":
            raise MXNetError(f"there is no {self}: this build has no GPU")
        return self


def _stack():
    scopes = Context._scopes
    if not hasattr(scopes, "stack"):
        scopes.stack = [_CPU]
    return scopes.stack


def cpu(device_id=0):
    """The host's memory. Numbers are names alone: all are one memory."""
    return Context("cpu", device_id)


_CPU = cpu()


def cpu_pinned(device_id=0):
    """The host's memory, as GPUs would copy it."""
    return Context("cpu_pinned", device_id)


def gpu(device_id=0):
    """A GPU; arrays cannot lie there."""
    return Context("gpu", device_id)


def num_gpus():
    """0."""
    return 0


def gpu_memory_info(device_id=0):
    """Raises MXNetError: there is no GPU."""
    gpu(device_id).check()


def set_default_context(ctx):
    """Where arrays of this thread lie from now on, outside of `with` blocks."""
    _stack()[0] = Context(ctx)


def current_context():
    """That of the innermost `with` block of this thread, or else cpu(0)."""
    return _stack()[-1]
