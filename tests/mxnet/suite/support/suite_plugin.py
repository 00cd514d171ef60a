# SPDX-License-Identifier: Apache-2.0
"""pytest plug-in of run.py: a line of JSON for each test as it begins and ends, and
an end to those that take too long."""

import json
import os
import signal

import pytest

_RESULTS = os.environ["MXC_SUITE_RESULTS"]
_SECONDS = int(os.environ["MXC_SUITE_SECONDS"])


def _write(**row):
    with open(_RESULTS, "a") as file:
        file.write(json.dumps(row) + "\n")


def _expired(signum, frame):
    # Not an Exception: tests that expect one would take it for theirs.
    raise pytest.fail.Exception(f"took over {_SECONDS} s")


def pytest_collection_modifyitems(session, config, items):
    """Leaves out what an earlier process has done."""
    done = set(json.loads(os.environ["MXC_SUITE_DONE"]))
    items[:] = [item for item in items if item.name not in done]
    _write(event="found", names=[item.name for item in items])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    _write(event="begin", name=item.name)
    # Of the processor, so that other work beside does not count; of the clock longer,
    # for what waits.
    signal.signal(signal.SIGPROF, _expired)
    signal.signal(signal.SIGALRM, _expired)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    signal.alarm(5 * _SECONDS)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)


def pytest_runtest_logreport(report):
    name = report.nodeid.split("::")[-1]
    if report.when == "call" or report.outcome != "passed":
        text = str(report.longrepr or "").strip().splitlines()
        _write(event="end", name=name, outcome=report.outcome,
               why=text[-1][:300] if text else "")


def pytest_collectreport(report):
    if report.failed:
        text = str(report.longrepr).strip().splitlines()
        _write(event="broken", why=text[-1][:300] if text else "")
