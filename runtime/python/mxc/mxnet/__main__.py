# SPDX-License-Identifier: Apache-2.0
"""python -m mxc.mxnet SCRIPT [ARGUMENT…]: runs a script that imports mxnet.

python -m mxc.mxnet -m MODULE [ARGUMENT…] runs a module, as pytest is one:
    python -m mxc.mxnet -m pytest tests/python/unittest/test_ndarray.py

In this process mxnet is mxc.mxnet. Names that Python and NumPy had when scripts
for MXNet 1.x were written are there again, and nose.tools where nose is not."""

import os
import runpy
import sys

from ._script import alias, nose_tools, older_names

_USAGE = """usage: python -m mxc.mxnet SCRIPT [ARGUMENT…]
       python -m mxc.mxnet -m MODULE [ARGUMENT…]"""


def main(arguments):
    """Runs what the arguments name; its status is the process'."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__ if arguments else _USAGE,
              file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "-m" and len(arguments) < 2:
        print(_USAGE, file=sys.stderr)
        return 2
    older_names.install()
    nose_tools.install()
    alias.install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    script = arguments[0]
    if not os.path.exists(script):
        print(f"error: there is no script '{script}'", file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
