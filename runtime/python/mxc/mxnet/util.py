# SPDX-License-Identifier: Apache-2.0
"""mx.util: what 0 in a shape means, NumPy's arrays, which are not here, and the
environment."""

import functools
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
    """False: functions give mx.nd's arrays."""
    return False


def set_np_shape(active):
    """Sets what is_np_shape gives; returns what was so before."""
    before = is_np_shape()
    _flags.np_shape = bool(active)
    return before


def _refuse(active, what):
    if active:
        raise NotImplementedError(f"{what}: mx.np is not here")


def set_np(shape=True, array=True):
    """Sets is_np_shape; refused unless `array` is False."""
    _refuse(array, "set_np")
    set_np_shape(shape)


def reset_np():
    """Shapes as they are at first."""
    set_np_shape(False)


class _ShapeScope:
    def __init__(self, active):
        self._active = active

    def __enter__(self):
        self._before = set_np_shape(self._active)
        return self

    def __exit__(self, *_):
        set_np_shape(self._before)


class _NumpyArrayScope:
    def __init__(self, active):
        self._active = active

    def __enter__(self):
        _refuse(self._active, "np_array")
        return self

    def __exit__(self, *_):
        pass


def np_shape(active=True):
    """With block of set_np_shape."""
    return _ShapeScope(active)


def np_array(active=True):
    """With block; refused unless `active` is False."""
    return _NumpyArrayScope(active)


def _decorator(around):
    def decorate(func):
        if isinstance(func, type):
            for name, member in list(vars(func).items()):
                if callable(member) and (not name.startswith("__") or
                                         name in ("__init__", "__call__")):
                    setattr(func, name, decorate(member))
            return func

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with around():
                return func(*args, **kwargs)
        return wrapper
    return decorate


use_np_shape = _decorator(np_shape)
use_np = use_np_array = _decorator(np_array)


def get_gpu_count():
    """0."""
    return 0


def get_gpu_memory(gpu_dev_id):
    """Raises MXNetError: there is no GPU."""
    from .context import gpu_memory_info
    return gpu_memory_info(gpu_dev_id)
