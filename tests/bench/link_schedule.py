#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When a worker's step releases which gradient and needs which parameter, as
links_bench and scaling_model.py read it: milliseconds from measurement, the
rest as it was compiled.

usage: link_schedule.py INSPECT.json BENCH.json

INSPECT: mxc inspect NET.mxa --communication --json. BENCH: mxc-run bench
NET.mxa --entry grad --json. The times of steps are scaled to the median run,
which does not stop between them."""
import json
import sys


def main():
    inspected, measured = (json.load(open(path, encoding="utf-8"))
                           for path in sys.argv[1:])
    entry = next(e for e in inspected.get("entries", [inspected])
                 if e.get("communication"))
    steps = [step["ns"] for step in measured["steps"]]
    scale = measured["latency_ns"]["median"] / sum(steps)
    for nanoseconds in steps:
        print("step", round(nanoseconds * scale))
    for exchange in entry["communication"]:
        print("exchange", exchange["bytes"], exchange["leaves_after_step"],
              exchange["needed_by_step"], exchange["priority"],
              exchange["parameter"])


if __name__ == "__main__":
    main()
