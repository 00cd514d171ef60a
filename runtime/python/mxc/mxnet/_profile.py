# SPDX-License-Identifier: Apache-2.0
"""What mx.profiler has measured: times by category and name, and the events of a
trace for chrome://tracing."""

import json
import threading
import time

_COLUMNS = ("Count", "Total", "Min", "Max", "Avg")


class Recorder:
    """Times of everything that ended while it ran. From any thread."""

    def __init__(self):
        self._lock = threading.Lock()
        self.is_running = False
        self.reset()

    def reset(self):
        """Forgets the times."""
        with self._lock:
            self._times = {}
            self._events = []

    def add(self, category, name, begin, end):
        """Something took from `begin` to `end`, in seconds of perf_counter."""
        if not self.is_running:
            return
        took = (end - begin) * 1e3
        thread = threading.get_ident()
        with self._lock:
            row = self._times.setdefault(category, {}).setdefault(
                name, {"Count": 0, "Total": 0.0, "Min": took, "Max": took})
            row["Count"] += 1
            row["Total"] += took
            row["Min"], row["Max"] = min(row["Min"], took), max(row["Max"], took)
            self._events.append({"name": name, "cat": category, "ph": "X",
                                 "ts": begin * 1e6, "dur": took * 1e3, "pid": 0,
                                 "tid": thread})

    def note(self, category, name, kind, **values):
        """Something at a moment: a counter's value ("C") or a marker ("i")."""
        if not self.is_running:
            return
        with self._lock:
            self._events.append({"name": name, "cat": category, "ph": kind,
                                 "ts": time.perf_counter() * 1e6, "pid": 0,
                                 "tid": threading.get_ident(), **values})

    def times(self, sort_by, ascending):
        """{category: {name: row}}, rows in order of one of their columns."""
        column = sort_by.capitalize()
        if column not in _COLUMNS:
            raise ValueError(f"sort_by is one of total, avg, min, max and count, not "
                             f"'{sort_by}'")
        with self._lock:
            found = {category: {name: {**row, "Avg": row["Total"] / row["Count"]}
                                for name, row in rows.items()}
                     for category, rows in self._times.items()}
        return {category: dict(sorted(rows.items(), key=lambda item: item[1][column],
                                      reverse=not ascending))
                for category, rows in sorted(found.items())}

    def trace(self):
        """The events as chrome://tracing reads them."""
        with self._lock:
            return json.dumps({"traceEvents": self._events, "displayTimeUnit": "ms"})


def table(times):
    """Rows of text."""
    lines = ["", "Profile Statistics:",
             "\tNote the difference in units for different entries."]
    for category, rows in times.items():
        lines += [category, "=" * 17,
                  "{:<24}{:>17}{:>17}{:>17}{:>17}{:>17}".format(
                      "Name", "Total Count", "Time (ms)", "Min Time (ms)",
                      "Max Time (ms)", "Avg Time (ms)")]
        lines += [f"{name:<24}{row['Count']:>17}{row['Total']:>17.4f}"
                  f"{row['Min']:>17.4f}{row['Max']:>17.4f}{row['Avg']:>17.4f}"
                  for name, row in rows.items()]
        lines.append("")
    return "\n".join(lines) + "\n"
