# SPDX-License-Identifier: Apache-2.0
"""mx.npx, of which there is nothing: scripts that import it and do without run."""


class _Missing(NotImplementedError, AttributeError):
    """Both, so that hasattr says no."""


def __getattr__(name):
    raise _Missing(f"mx.npx.{name} is not there: mxc has mx.nd and mx.sym.")
