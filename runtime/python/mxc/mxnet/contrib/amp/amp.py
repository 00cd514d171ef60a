# SPDX-License-Identifier: Apache-2.0
"""Mixed precision by casts between operators, which is not there: `mxc compile` and
`mxc train` lower the precision of a whole network (`--precision bf16`, `f16`)."""

import numpy as np

#: How MXNet's arrays of bfloat16 look to NumPy: the bits of each element.
bfloat16 = np.dtype([("bfloat16", np.uint16)])


def _refusing(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(
            f"amp.{name}: operators are not cast one by one; networks are compiled in "
            "another precision by mxc compile --precision bf16 or f16")
    refuse.__name__ = name
    refuse.__doc__ = "Raises NotImplementedError."
    return refuse


init = _refusing("init")
init_trainer = _refusing("init_trainer")
scale_loss = _refusing("scale_loss")
unscale = _refusing("unscale")
convert_symbol = _refusing("convert_symbol")
convert_model = _refusing("convert_model")
convert_hybrid_block = _refusing("convert_hybrid_block")
