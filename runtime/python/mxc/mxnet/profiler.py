# SPDX-License-Identifier: Apache-2.0
"""mx.profiler: settings are taken; what was profiled cannot be had."""

import time

__all__ = ["set_config", "set_state", "pause", "resume", "dump", "dumps",
           "profiler_set_config", "profiler_set_state", "dump_profile", "Domain",
           "Task", "Frame", "Event", "Counter", "Marker"]

_KNOWN = {"filename", "profile_all", "profile_symbolic", "profile_imperative",
          "profile_memory", "profile_api", "contiguous_dump", "dump_period",
          "aggregate_stats", "profile_process"}


def set_config(**kwargs):
    """Takes MXNet's settings; TypeError for others."""
    for name in kwargs:
        if name not in _KNOWN:
            raise TypeError(f"set_config has no setting '{name}'")


def profiler_set_config(mode="symbolic", filename="profile.json"):
    """Takes the older settings."""


def set_state(state="stop", profile_process="worker"):
    """"run" or "stop"."""
    if state not in ("run", "stop"):
        raise ValueError(f"the profiler's state is 'run' or 'stop', not '{state}'")


def profiler_set_state(state="stop"):
    """"run" or "stop"."""
    set_state(state)


def pause(profile_process="worker"):
    """Nothing is profiled."""


def resume(profile_process="worker"):
    """Nothing is profiled."""


def _refuse(what):
    raise NotImplementedError(f"profiler.{what}: calls are not profiled; "
                              "`mxc-run bench` says what an artifact's steps cost")


def dump(finished=True, profile_process="worker"):
    """Refused."""
    _refuse("dump")


def dump_profile():
    """Refused."""
    _refuse("dump_profile")


def dumps(reset=False, format="table", sort_by="total", ascending=False):
    """Refused."""
    _refuse("dumps")


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
    def __init__(self, domain, name):
        self.domain, self.name = domain, name
        self.seconds = 0.0

    def start(self):
        """Begins."""
        self._begin = time.perf_counter()

    def stop(self):
        """Ends; `seconds` is what it took."""
        self.seconds = time.perf_counter() - self._begin

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


class Event(_Duration):
    """Something that takes time, in one thread."""

    def __init__(self, name):
        super().__init__(None, name)


class Counter:
    """A number that changes."""

    def __init__(self, domain, name, value=None):
        self.domain, self.name, self.value = domain, name, value or 0

    def set_value(self, value):
        """Sets it."""
        self.value = value

    def increment(self, delta=1):
        """Adds to it."""
        self.value += delta

    def decrement(self, delta=1):
        """Takes from it."""
        self.value -= delta

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
        """Nothing is profiled."""
