# SPDX-License-Identifier: Apache-2.0
"""mx.nd.linalg: operators of linear algebra."""

from . import _register

globals().update(_register.MODULES["linalg"])
