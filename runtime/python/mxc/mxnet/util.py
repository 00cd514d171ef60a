# SPDX-License-Identifier: Apache-2.0
"""mx.util: what 0 in a shape means, NumPy's arrays, which are not here, and the
environment."""

import functools
import inspect
import os
import threading

__all__ = ["getenv", "setenv", "is_np_shape", "is_np_array", "np_shape", "np_array",
           "use_np", "use_np_shape", "use_np_array", "set_np", "set_np_shape",
           "reset_np", "get_gpu_count", "get_gpu_memory", "makedirs"]


def getenv(name):
    """A variable of the environment, or None."""
    return os.environ.get(name)


def setenv(name, value):
    """Sets a variable of the environment; None removes it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def makedirs(d):
    """Makes a folder, and those that it lies in."""
    os.makedirs(os.path.expanduser(d), exist_ok=True)


_flags = threading.local()


def is_np_shape():
    """Whether 0 in a shape is an extent, and () the shape of one element, in this
    thread; else both are what is not known."""
    return getattr(_flags, "np_shape", False)


def is_np_array():
    """Whether Gluon's parameters and files are mx.np's arrays, in this thread."""
    return getattr(_flags, "np_array", False)


def set_np_shape(active):
    """Sets what is_np_shape gives; returns what was so before."""
    before = is_np_shape()
    _flags.np_shape = bool(active)
    return before


def _set_np_array(active):
    before = is_np_array()
    _flags.np_array = bool(active)
    return before


def set_np(shape=True, array=True):
    """Sets is_np_shape and is_np_array."""
    if array and not shape:
        raise ValueError("NumPy's arrays need NumPy's shapes: shape is True where array is")
    set_np_shape(shape)
    _set_np_array(array)


def reset_np():
    """Shapes and arrays as they are at first."""
    set_np(False, False)


class _Scope:
    def __init__(self, setter, active):
        self._set, self._active, self._before = setter, active, []

    def __enter__(self):
        self._before.append(self._set(self._active))
        return self

    def __exit__(self, *_):
        self._set(self._before.pop())


class _NumpyArrayScope(_Scope):
    """The with block of np_array, as a class."""

    def __init__(self, active):
        super().__init__(_set_np_array, active)


def np_shape(active=True):
    """With block of set_np_shape."""
    return _Scope(set_np_shape, active)


def np_array(active=True):
    """With block in which is_np_array gives `active`."""
    return _Scope(_set_np_array, active)


def _decorator(around):
    def decorate(func):
        if isinstance(func, type):
            for name in dir(func):
                member = inspect.getattr_static(func, name)
                if inspect.isfunction(member) and (
                        not name.startswith("__") or name in ("__init__", "__call__")):
                    setattr(func, name, decorate(member))
            return func

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with around():
                return func(*args, **kwargs)
        return wrapper
    return decorate


use_np_shape = _decorator(np_shape)
use_np_array = _decorator(np_array)


def use_np(func):
    """Decorates a function or a class: within, both are NumPy's, shapes and arrays."""
    return use_np_shape(use_np_array(func))


def get_gpu_count():
    """0."""
    return 0


def get_gpu_memory(gpu_dev_id):
    """Raises MXNetError: there is no GPU."""
    from .context import gpu_memory_info
    return gpu_memory_info(gpu_dev_id)
