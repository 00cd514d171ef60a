#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: house.py DOCUMENT | house.py --dot
The rooms of the repository and who includes whom: an arrow for each pair that no
longer way explains. Fails where the drawing in DOCUMENT, a block of Mermaid, is
another; --dot prints it for Graphviz."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A room is drawn where it has a floor; smaller ones stand within these. A header
# is drawn where the rooms below its folder include it.
FLOORS = {
    "tools": ["tools", "tools/imperative", "tools/driver", "tools/serve",
              "tools/run", "tools/signature", "tools/usage", "tools/version"],
    "compiler": ["frontend", "passes", "codegen", "codegen/cpu", "codegen/cuda",
                 "codegen/loops", "codegen/llvm", "codegen/cache",
                 "codegen/schedule", "codegen/backend.h", "codegen/codegen.h"],
    "ir": ["ir/optimizers", "ir/ops", "ir/program", "ir/graph", "ir/target",
           "ir/support"],
    "runtime": ["runtime/python", "runtime/api", "runtime/fit", "runtime/tune",
                "runtime/job", "runtime/remote",
                "runtime/train/step", "runtime/train", "runtime/data",
                "runtime/kvstore", "runtime/autograd", "runtime/ndarray",
                "runtime/engine",
                "runtime/executor", "runtime/device",
                "runtime/library", "runtime/artifact", "runtime/formats",
                "runtime/abi", "runtime/base"],
}
ROOMS = [room for floor in FLOORS.values() for room in floor]
# Headers that belong to no floor: what a program includes.
DOORS = ("runtime/mxc", "tools/driver/mxc_compile.h",
         "tools/imperative/mxc_ndarray.h")


def room_of(path):
    """The longest room that holds the path; none for tests and doors."""
    if path.startswith(DOORS):
        return None
    if path in ROOMS:
        return path
    held = [room for room in ROOMS if path.startswith(room + "/")]
    return max(held, key=len, default=None)


def includes():
    """{room: rooms that its files include}."""
    found = collections.defaultdict(set)
    for top in ("frontend", "ir", "passes", "codegen", "runtime", "tools"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in (".h", ".cc", ".hpp"):
                continue
            room = room_of(str(file.relative_to(ROOT)))
            if "runtime/examples" in str(file) or room is None:
                continue
            for name in re.findall(r'^#include "([^"]+\.h)"',
                                   file.read_text(), re.M):
                other = room_of(name)
                if other is not None and other != room:
                    found[room].add(other)
    return found


def reached(found, start):
    """All rooms below a room."""
    seen, waiting = set(), [start]
    while waiting:
        for room in found[waiting.pop()] - seen:
            seen.add(room)
            waiting.append(room)
    return seen


def arrows():
    """(room, room) that no longer way explains."""
    found = includes()
    below = {room: reached(found, room) for room in ROOMS}
    for room in ROOMS:
        if room in below[room]:
            around = [other for other in ROOMS
                      if other in below[room] and room in below[other]]
            raise SystemExit(f"these rooms include each other: {around}")
    return [(room, other) for room in ROOMS
            for other in sorted(found[room], key=ROOMS.index)
            if not any(other in below[between] for between in found[room])]


def name(room):
    return re.sub(r"\W", "_", room)


def mermaid():
    lines = ["graph TD"]
    for floor, rooms in FLOORS.items():
        lines.append(f"  subgraph {floor}_floor [{floor}]")
        lines += [f'    {name(room)}["{room}"]' for room in rooms]
        lines.append("  end")
    lines += [f"  {name(room)} --> {name(other)}" for room, other in arrows()]
    return "\n".join(lines) + "\n"


def dot():
    lines = ["digraph house {", "  rankdir=TB; node [shape=box];"]
    for floor, rooms in FLOORS.items():
        lines.append(f'  subgraph cluster_{floor} {{ label="{floor}";')
        lines += [f'    "{room}";' for room in rooms]
        lines.append("  }")
    lines += [f'  "{room}" -> "{other}";' for room, other in arrows()]
    return "\n".join(lines + ["}"])


def main():
    if sys.argv[1] == "--dot":
        print(dot())
        return
    text = pathlib.Path(sys.argv[1]).read_text()
    drawn = re.search(r"```mermaid\n(.*?)```", text, re.S)
    if drawn is None or drawn[1] != mermaid():
        print(mermaid(), end="")
        raise SystemExit(f"{sys.argv[1]} draws another house; the one above "
                         "stands")


main()
