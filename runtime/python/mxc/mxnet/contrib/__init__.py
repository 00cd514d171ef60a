# SPDX-License-Identifier: Apache-2.0
"""What is beside MXNet's own modules: texts, SVRG, older autograd, loaders as iterators."""
import sys as _sys

from .. import ndarray as _ndarray, symbol as _symbol
from . import amp, autograd, io, onnx, quantization, tensorboard, text

quant = quantization

ndarray = nd = _ndarray.contrib
symbol = sym = _symbol.contrib
for _name, _module in (("ndarray", ndarray), ("symbol", symbol)):
    # `import mx.contrib.ndarray` finds them, too.
    _sys.modules[f"{__name__}.{_name}"] = _module

__all__ = ["amp", "autograd", "io", "nd", "ndarray", "onnx", "quant", "quantization",
           "sym", "symbol", "tensorboard", "text"]
