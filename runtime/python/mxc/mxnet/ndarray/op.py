# SPDX-License-Identifier: Apache-2.0
"""mx.nd.op: all operators whose names begin with a letter."""

from . import _register

globals().update(_register.MODULES[""])
