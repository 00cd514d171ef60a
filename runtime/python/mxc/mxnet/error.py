# SPDX-License-Identifier: Apache-2.0
"""mx.error: what is raised. All that goes wrong below Python is an MXNetError."""

from .base import MXNetError

__all__ = ["MXNetError", "InternalError", "register", "register_error"]

#: Types by the names under which they were registered.
error_types = {}


def register_error(func_name=None, cls=None):
    """Keeps a type under a name; a decorator where it is given the type alone or a
    name alone."""
    if callable(func_name):
        func_name, cls = func_name.__name__, func_name

    def keep(kind):
        error_types[func_name] = kind
        return kind
    return keep if cls is None else keep(cls)


register = register_error


@register
class InternalError(MXNetError):
    """A fault of the library."""
