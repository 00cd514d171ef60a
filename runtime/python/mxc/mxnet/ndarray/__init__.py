# SPDX-License-Identifier: Apache-2.0
"""mx.nd: arrays, and operators called one by one.

All operators of `mxc ops` are functions here: inputs first, then attributes, by
position or by name; `out=` an array that is written; `name=` is ignored."""

from . import _arithmetic, _register
from ._invoke import _invoke
from .creation import *  # noqa: F403
from .creation import array
from .ndarray import NDArray

_MODULES = _register.functions()
globals().update({name: function for name, function in _MODULES[""].items()
                  if name not in globals()})
globals().update(_arithmetic.FUNCTIONS)


def waitall():
    """Until nothing is left to do; raises what went wrong and nobody was told."""
    from ... import _ndarray
    _ndarray.wait_all()
