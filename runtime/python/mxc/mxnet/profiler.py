# SPDX-License-Identifier: Apache-2.0
"""mx.profiler: how long operators take, and what a program itself measures.

    mx.profiler.set_config(filename="trace.json")
    mx.profiler.set_state("run")
    …
    mx.profiler.set_state("stop")
    print(mx.profiler.dumps())      # a table
    mx.profiler.dump()              # the file, for chrome://tracing

While it runs, every call of an operator waits for its result: calls that would run
side by side run one after the other. A network's program is one entry. What operators
of the user's own take and call is "Custom Operator": "MySigmoid::pure_python" from its
begin to its end, "MySigmoid::_zeros", "_backward_MySigmoid::…"."""

import json
import threading
import time

from .._whole_file import write_whole
from . import _profile
from .ndarray import _arithmetic
from .ndarray._invoke import watch_calls

__all__ = ["set_config", "set_state", "pause", "resume", "dump", "dumps",
           "profiler_set_config", "profiler_set_state", "dump_profile", "Domain",
           "Task", "Frame", "Event", "Counter", "Marker"]

_KNOWN = {"filename", "gpu_memory_profile_filename_prefix", "profile_all",
          "profile_symbolic", "profile_imperative", "profile_memory", "profile_api",
          "continuous_dump", "dump_period", "aggregate_stats", "profile_process"}
_CUSTOM = "Custom Operator"
_recorder = _profile.Recorder()
_config = {"filename": "profile.json"}
_inside = threading.local()  # .name: of the user's operator that a thread computes


def set_config(**kwargs):
    """MXNet's settings; `filename` is where dump() writes. TypeError for others."""
    for name in kwargs:
        if name not in _KNOWN:
            raise TypeError(f"set_config has no setting '{name}'")
    _config.update(kwargs)


def profiler_set_config(mode="symbolic", filename="profile.json"):
    """The older settings."""
    set_config(filename=filename)


def _timed(name, call):
    begin = time.perf_counter()
    arrays = call()
    for array in arrays:
        array.wait()
    custom = getattr(_inside, "name", None)
    _recorder.add(*(("operator", name) if custom is None else
                    (_CUSTOM, f"{custom}::{name}")), begin, time.perf_counter())
    return arrays


def run_custom(name, compute):
    """compute(), which is an operator of the user's own in Python. What it calls is
    counted under its name, apart from other calls."""
    if not _recorder.is_running:
        return compute()
    outer, _inside.name = getattr(_inside, "name", None), name
    begin = time.perf_counter()
    try:
        return compute()
    finally:
        _inside.name = outer
        _recorder.add(_CUSTOM, f"{name}::pure_python", begin, time.perf_counter())


def _run(is_running):
    _recorder.is_running = is_running
    watch_calls(_timed if is_running else None)
    _arithmetic.METHODS.is_watched = is_running


def set_state(state="stop", profile_process="worker"):
    """"run" or "stop"."""
    if state not in ("run", "stop"):
        raise ValueError(f"the profiler's state is 'run' or 'stop', not '{state}'")
    _run(state == "run")


def profiler_set_state(state="stop"):
    """"run" or "stop"."""
    set_state(state)


def pause(profile_process="worker"):
    """Measures nothing until resume()."""
    _run(False)


def resume(profile_process="worker"):
    """Goes on."""
    _run(True)


def dump(finished=True, profile_process="worker"):
    """Writes the trace; `finished`: and stops."""
    if finished:
        _run(False)
    with write_whole(_config["filename"], "w") as file:
        file.write(_recorder.trace())


def dump_profile():
    """Writes the trace, and stops."""
    dump(True)


def dumps(reset=False, format="table", sort_by="total", ascending=False):
    """Times in ms by category and name, as a table or as JSON; `reset`: forgets them
    afterwards."""
    if format not in ("table", "json"):
        raise ValueError(f"format is 'table' or 'json', not '{format}'")
    times = _recorder.times(sort_by, ascending)
    text = _profile.table(times) if format == "table" else json.dumps(
        {"Time": times, "Memory": {}, "Unit": {"Time": "ms", "Memory": "kB"}})
    if reset:
        _recorder.reset()
    return text


class Domain:
    """A name for what is measured together."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name

    def new_task(self, name):
        """A task of this domain."""
        return Task(self, name)

    def new_frame(self, name):
        """A frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name, value=None):
        """A counter of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name):
        """A marker of this domain."""
        return Marker(self, name)


class _Duration:
    _kind = "task"

    def __init__(self, domain, name):
        self.domain, self.name = domain, name
        self._begin = None

    def start(self):
        """Begins."""
        self._begin = time.perf_counter()

    def stop(self):
        """Ends."""
        if self._begin is not None:
            _recorder.add(str(self.domain or self._kind), self.name, self._begin,
                          time.perf_counter())
            self._begin = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def __str__(self):
        return self.name


class Task(_Duration):
    """Something that takes time."""


class Frame(_Duration):
    """Something that takes time, again and again."""

    _kind = "frame"


class Event(_Duration):
    """Something that takes time, in one thread."""

    _kind = "event"

    def __init__(self, name):
        super().__init__(None, name)


class Counter:
    """A number that changes."""

    def __init__(self, domain, name, value=None):
        self.domain, self.name, self.value = domain, name, 0
        if value is not None:
            self.set_value(value)

    def set_value(self, value):
        """Sets it."""
        self.value = value
        _recorder.note(str(self.domain), self.name, "C", args={self.name: value})

    def increment(self, delta=1):
        """Adds to it."""
        self.set_value(self.value + delta)

    def decrement(self, delta=1):
        """Takes from it."""
        self.set_value(self.value - delta)

    def __iadd__(self, delta):
        self.increment(delta)
        return self

    def __isub__(self, delta):
        self.decrement(delta)
        return self

    def __str__(self):
        return self.name


class Marker:
    """A moment."""

    def __init__(self, domain, name):
        self.domain, self.name = domain, name

    def mark(self, scope="process"):
        """It is there, for "process", "thread", "task" or "global"."""
        _recorder.note(str(self.domain), self.name, "i", s=scope[0])
