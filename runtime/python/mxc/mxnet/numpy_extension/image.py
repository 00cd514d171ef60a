# SPDX-License-Identifier: Apache-2.0
"""mx.npx.image: operators over pictures."""

from .. import image as _image
from .._numpy._extension import IMAGE

globals().update({name: getattr(_image, name) for name in dir(_image)
                  if not name.startswith("_")})
globals().update(IMAGE)
