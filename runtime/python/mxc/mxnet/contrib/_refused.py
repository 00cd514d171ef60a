# SPDX-License-Identifier: Apache-2.0
"""Functions that refuse in a sentence."""


def refused(module, names, instead):
    """{name: a function that raises NotImplementedError} for each name."""
    def refusing(name):
        def function(*args, **kwargs):
            raise NotImplementedError(f"{module}.{name}: {instead}")
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"Refused: {instead}."
        return function
    return {name: refusing(name) for name in names}
