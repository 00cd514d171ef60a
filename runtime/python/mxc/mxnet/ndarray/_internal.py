# SPDX-License-Identifier: Apache-2.0
"""mx.nd._internal: operators whose names begin with an underscore."""

from . import _register

globals().update(_register.MODULES["_internal"])

_copyto = _register.MODULES["_internal"]["_copy"]
