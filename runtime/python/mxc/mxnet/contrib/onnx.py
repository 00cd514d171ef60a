# SPDX-License-Identifier: Apache-2.0
"""ONNX files, which the compiler reads."""

from ._refused import refused

__all__ = ["import_model", "get_model_metadata", "import_to_gluon", "export_model"]

globals().update(refused(
    "mx.contrib.onnx", __all__, "ONNX files are compiled as they are, by mxc.compile or "
    "`mxc compile`; `mxc convert` writes a network in another form"))
