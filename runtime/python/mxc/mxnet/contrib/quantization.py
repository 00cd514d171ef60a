# SPDX-License-Identifier: Apache-2.0
"""Networks in 8 bits, which `mxc calibrate` makes."""

from ._refused import refused

__all__ = ["quantize_model", "quantize_model_mkldnn", "quantize_net", "quantize_net_v2",
           "quantize_graph", "calib_graph"]

globals().update(refused(
    "mx.contrib.quantization", __all__, "networks are quantized by `mxc calibrate "
    "PREFIX-symbol.json --data …`, whose files sym.load reads"))
