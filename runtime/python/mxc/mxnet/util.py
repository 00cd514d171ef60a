# SPDX-License-Identifier: Apache-2.0
"""mx.util: scopes of NumPy's semantics, which are not here, and the environment."""

import functools
import os

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


def is_np_shape():
    """False: 0 in a shape is an extent that is not known."""
    return False


def is_np_array():
    """False: functions give mx.nd's arrays."""
    return False


def _refuse(active, what):
    if active:
        raise NotImplementedError(f"{what}: mx.np is not here")
    return False


def set_np_shape(active):
    """Refused unless `active` is False."""
    return _refuse(active, "set_np_shape")


def set_np(shape=True, array=True):
    """Refused unless both are False."""
    _refuse(shape or array, "set_np")


def reset_np():
    """Nothing was set."""


class _Scope:
    def __init__(self, active, what):
        self._active, self._what = active, what

    def __enter__(self):
        _refuse(self._active, self._what)
        return self

    def __exit__(self, *_):
        pass


def np_shape(active=True):
    """With block; refused unless `active` is False."""
    return _Scope(active, "np_shape")


def np_array(active=True):
    """With block; refused unless `active` is False."""
    return _Scope(active, "np_array")


def _refusing(what):
    def decorator(func):
        if isinstance(func, type):
            func.__init__ = decorator(func.__init__)
            return func

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            _refuse(True, what)
        return wrapper
    return decorator


use_np = _refusing("use_np")
use_np_shape = _refusing("use_np_shape")
use_np_array = _refusing("use_np_array")


def get_gpu_count():
    """0."""
    return 0


def get_gpu_memory(gpu_dev_id):
    """Raises MXNetError: there is no GPU."""
    from .context import gpu_memory_info
    return gpu_memory_info(gpu_dev_id)
