# SPDX-License-Identifier: Apache-2.0
"""Loggers whose lines begin with the level's letter, the time and the place."""

import logging
import sys

CRITICAL = logging.CRITICAL
ERROR = logging.ERROR
WARNING = logging.WARNING
INFO = logging.INFO
DEBUG = logging.DEBUG
NOTSET = logging.NOTSET

_LETTERS = {CRITICAL: "C", ERROR: "E", WARNING: "W", INFO: "I", DEBUG: "D"}
_COLORS = {CRITICAL: 31, ERROR: 31, WARNING: 33}


class _Formatter(logging.Formatter):
    def __init__(self, colored=False):
        super().__init__(datefmt="%m%d %H:%M:%S")
        self._colored = colored

    def format(self, record):
        label = (f"{_LETTERS.get(record.levelno, 'U')}"
                 "%(asctime)s %(process)d %(filename)s:%(lineno)d %(funcName)s]")
        if self._colored:
            label = f"\x1b[{_COLORS.get(record.levelno, 32)}m{label}\x1b[0m"
        self._style._fmt = label + " %(message)s"
        return super().format(record)


def get_logger(name=None, filename=None, filemode=None, level=WARNING):
    """The logger `name`, which writes to the file or, without one, to standard
    error. A second call for the same name changes the level alone."""
    logger = logging.getLogger(name)
    if name is not None and getattr(logger, "_mxc_handler", None) is None:
        if filename:
            handler = logging.FileHandler(filename, filemode or "a")
            handler.setFormatter(_Formatter())
        else:
            handler = logging.StreamHandler()
            handler.setFormatter(_Formatter(sys.stderr.isatty()))
        logger.addHandler(handler)
        logger._mxc_handler = handler
    if name is not None:
        logger.setLevel(level)
    return logger


getLogger = get_logger
