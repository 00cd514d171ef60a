# SPDX-License-Identifier: Apache-2.0
"""mx.nd.image: operators of pictures."""

from . import _register

globals().update(_register.MODULES["image"])
