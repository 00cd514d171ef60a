# SPDX-License-Identifier: Apache-2.0
"""Libraries of operators for libmxnet, which are not loaded here."""

import os

from .base import MXNetError

__all__ = ["load"]


def load(path, verbose=True):
    """Refused: such a library is compiled against lib_api.h of libmxnet."""
    if not os.path.exists(path):
        raise MXNetError(f"load path {path} does NOT exist")
    if not os.path.isabs(path):
        raise MXNetError(f"load path {path} is not an absolute path")
    raise NotImplementedError(
        f"{path}: libraries for MXNet's lib_api.h are not loaded; mx.operator.CustomOp "
        "has operators in Python, `mxc compile --library` those in C")
