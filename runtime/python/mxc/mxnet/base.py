# SPDX-License-Identifier: Apache-2.0
"""Errors, types and texts that all of mxc.mxnet uses."""

import ctypes
import os

import numpy as np

from .._errors import Error as MXNetError

__all__ = ["MXNetError"]

string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)

mx_uint = int
mx_int = int
mx_float = float
mx_real_t = np.float32


class _NoLibrary:
    """Stands for libmxnet, whose C functions nothing here has."""

    def __getattr__(self, name):
        raise NotImplementedError(f"{name} is a function of libmxnet, which is not here; "
                                  "mxc's C API is mxc/mxc_ndarray.h")


_LIB = _NoLibrary()
NDArrayHandle = SymbolHandle = ExecutorHandle = ctypes.c_void_p


def check_call(status):
    """Raises where a C function's status is not 0."""
    if status != 0:
        raise MXNetError(f"a C function ended with status {status}, expected 0")


def c_str(text):
    """A text for a C function."""
    return ctypes.c_char_p(text.encode())


def c_str_array(texts):
    """Texts for a C function."""
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


class _NullType:
    """The value of an attribute that is not given."""

    def __repr__(self):
        return "_Null"


_Null = _NullType()


class NotImplementedForSymbol(MXNetError):
    """A function of arrays was called for a symbol."""

    def __init__(self, function, alias, *args):
        kinds = ", ".join(type(arg).__name__ for arg in args)
        name = getattr(function, "__name__", str(function))
        also = f" (also called '{alias}')" if alias else ""
        super().__init__(f"Function {name}{also} with arguments ({kinds}) is not "
                         "implemented for Symbol, only for NDArray")


class NotSupportedForSparseNDArray(MXNetError):
    """A function of dense arrays was called for a sparse one."""


def dtype_name(dtype):
    """An element type as operators' attributes and arrays say it: "float32"."""
    if dtype is None:
        return "float32"
    if isinstance(dtype, str) and dtype == "bfloat16":
        return dtype
    return np.dtype(dtype).name


def attribute_text(value):
    """A value as MXNet writes it into an operator's attribute: "(3, 3)", "True"."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)) or value is None:
        return str(bool(value)) if value is not None else "None"
    if isinstance(value, (tuple, list)):
        texts = [attribute_text(item) for item in value]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
    if isinstance(value, (type, np.dtype)):
        return np.dtype(value).name
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, np.ndarray):
        return attribute_text(value.tolist())
    return str(value)


def py_str(text):
    """Text of bytes."""
    return text.decode("utf-8") if isinstance(text, bytes) else text


def _as_list(value):
    """A list of what is not one."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def data_dir_default():
    """The folder of data and models: ~/.mxnet."""
    return os.path.join(os.path.expanduser("~"), ".mxnet")


def data_dir():
    """The folder of data and models: MXNET_HOME, or else ~/.mxnet."""
    return os.environ.get("MXNET_HOME", data_dir_default())


class classproperty:
    """A property of a class."""

    def __init__(self, getter):
        self._getter = getter

    def __get__(self, instance, owner):
        return self._getter(owner)
