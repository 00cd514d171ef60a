#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/readme/run.py BIN_DIR

Runs every command of README.md, tools/GUIDE.md and tools/TEXTS.md, one after the other in a
folder that holds what the repository has, and compares what is printed.

A command is a line that begins with "$ " within a fenced block, with the lines
that continue it or its here-document. It ends with 1 where the text below it
speaks of an error, else with 0. Where there is a text, that is what is printed,
apart from what printed.py leaves open. What is printed where there is none is
not looked at. Not run here: README's C (tests/install/readme_c.sh), its Python
(tests/python/readme_test.py), the package (tests/install/deb.sh).
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import printed  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = ["README.md", "tools/GUIDE.md", "tools/TEXTS.md"]
FEWEST = 30  # commands


def commands_of(text):
    """(command, lines below it) of every command."""
    found = []
    fenced = below = more = False
    end = None
    for line in text.splitlines():
        if line.startswith("```"):
            fenced, below, more, end = not fenced, False, False, None
        elif not fenced:
            continue
        elif end is not None:
            found[-1][0].append(line)
            end = None if line == end else end
        elif more or line.startswith("$ "):
            if not more:
                found.append(([], []))
            found[-1][0].append(line if more else line[2:])
            below = True
            more = line.endswith("\\")
            word = re.search(r"<<'?([A-Z]+)", line)
            end = word[1] if word else None
        elif below:
            found[-1][1].append(line)
    return [("\n".join(command), says) for command, says in found]


def run(command, folder, bin_dir):
    environment = dict(os.environ, HOME=folder)
    environment["PATH"] = f"{bin_dir}:{environment['PATH']}"
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(["bash", "-c", command], cwd=folder, text=True,
                          env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.splitlines()


def problem_of(says, code, output):
    """Why this is not what the document promises; None: it is."""
    expected = 1 if any("error:" in line for line in says) else 0
    if code != expected:
        return [f"ended with {code}, expected {expected}:"] + output
    if says and not printed.is_same(says, output):
        return ["printed:"] + output
    return None


def says_as_quickstart(readme):
    """Whether README's way to the programs is what tools/quickstart prints; what
    it builds needs root and the network."""
    export = re.search(r"`(export PATH=[^`]*)`", readme)
    script = (REPOSITORY / "tools/quickstart").read_text()
    printed_there = script.replace("$build", "build").replace(r"\$", "$")
    return ("`tools/quickstart`" in readme and export is not None
            and export[1] in printed_there)


def main():
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in [".github", "README.md", "models", "tools", "tests"]:
            os.symlink(REPOSITORY / name, f"{folder}/{name}")
        for document in DOCUMENTS:
            text = (REPOSITORY / document).read_text()
            for command, says in commands_of(text):
                problem = problem_of(says, *run(command, folder, bin_dir))
                if problem is None:
                    passed += 1
                    continue
                failed += 1
                print(f"{document}: $ {command}", *says, sep="\n    ")
                print("  " + "\n    ".join(problem))
    if not says_as_quickstart((REPOSITORY / "README.md").read_text()):
        failed += 1
        print("README.md: tools/quickstart prints another way to the programs")
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed >= FEWEST else 1


if __name__ == "__main__":
    sys.exit(main())
