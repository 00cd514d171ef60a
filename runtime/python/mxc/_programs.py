# SPDX-License-Identifier: Apache-2.0
"""The programs mxc and mxc-run, which the wheel holds."""

import os
import pathlib
import sys


def path(name: str) -> str:
    return str(pathlib.Path(__file__).parent / "bin" / name)


def _become(name: str):
    program = path(name)
    os.execv(program, [program, *sys.argv[1:]])


def mxc():
    _become("mxc")


def mxc_run():
    _become("mxc-run")
