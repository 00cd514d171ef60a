# SPDX-License-Identifier: Apache-2.0
"""The programs mxc and mxc-run, which the wheel holds."""

import os
import pathlib
import subprocess
import sys
from typing import NoReturn

from ._errors import Error


def path(name: str) -> str:
    return str(pathlib.Path(__file__).parent / "bin" / name)


def output_of(*command: str) -> str:
    """What a program writes on its standard output."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(done.stderr.strip())
    return done.stdout


def _become(name: str) -> NoReturn:
    program = path(name)
    os.execv(program, [program, *sys.argv[1:]])


def mxc() -> NoReturn:
    _become("mxc")


def mxc_run() -> NoReturn:
    _become("mxc-run")
