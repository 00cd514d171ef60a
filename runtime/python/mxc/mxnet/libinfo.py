# SPDX-License-Identifier: Apache-2.0
"""mx.libinfo: where the library lies."""

import glob
import os

__all__ = ["find_lib_path", "find_include_path"]

__version__ = "1.9.1"


def find_lib_path(prefix="libmxnet"):
    """The paths of the library that stands for libmxnet."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return sorted(glob.glob(os.path.join(folder, "libmxc_ndarray.so*")))


def find_include_path():
    """Refused: the headers of mxc are installed by CMake, not by pip."""
    raise NotImplementedError("find_include_path: no header lies in the package")
