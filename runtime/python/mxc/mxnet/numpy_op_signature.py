# SPDX-License-Identifier: Apache-2.0
"""The functions of operators whose names begin with _np_, _npi_ or _npx_."""

def _get_builtin_op(op_name):
    """The function of mx.np or mx.npx that an operator is; None of inner ones."""
    from . import numpy, numpy_extension
    if op_name.startswith("_npx_"):
        return getattr(numpy_extension, op_name[5:], None)
    if op_name.startswith("_np_"):
        return getattr(numpy, op_name[4:], None)
    return None
