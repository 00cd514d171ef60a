# SPDX-License-Identifier: Apache-2.0
"""Puts the operators' functions into modules, by the beginnings of their names:
_contrib_box_nms is contrib.box_nms, FullyConnected is op.FullyConnected."""

from . import _operators
from ._compose import function

# Beginning of an operator's name -> the module of such functions.
_PREFIXES = {"contrib": ("_contrib_",), "linalg": ("_linalg_",),
             "image": ("_image_",), "sparse": ("_sparse_",),
             "random": ("_random_", "_sample_")}


def _public_name(module, name):
    """The operator's name in the module; None where it does not belong there."""
    if name.startswith(("_np_", "_npi_", "_npx_")):
        return None
    if module == "_internal":
        return name if name.startswith("_") else None
    for prefix in _PREFIXES.get(module, ()):
        if name.startswith(prefix):
            return name[len(prefix):]
    if module in _PREFIXES or name.startswith("_"):
        return None
    return name


def fill(module):
    """Adds what the module itself does not define."""
    short = module.__name__.rsplit(".", 1)[-1]
    for name in _operators.table():
        public = _public_name(short, name)
        if public and public.isidentifier() and not hasattr(module, public):
            setattr(module, public, function(name, public))
