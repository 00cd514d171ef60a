#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py [--only PART] [--json FILE] …

MXNet 1.9.1's own tests and example scripts (shared/cases/mxnet-python.tar.gz), by
MXNet itself and by `python -m mxc.mxnet`. A line a file: of the test functions (or of
the runs of a script) that MXNet passes here, how many pass by mxc; then the sums. What
MXNet fails is not counted. MXNet's results are kept in --cache, which they take an hour
to fill.

Scripts run as they are, with words of command_lines.py behind them and with data that
stand_ins.py makes of shared/cases/data; behind each run stand MXNet's
seconds of a processor, and ours.

Each test has --seconds, and so has each run of a script, of its processor's time, so
that other work beside does not count; a crash ends its own test alone.
By hand: it takes long, and asks PyPI for MXNet where no --oracle is given."""

import argparse
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import command_lines
import stand_ins

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ORACLE_PACKAGES = ["numpy==1.23.5", "pytest", "nose", "scipy", "requests", "graphviz"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[1])
    shared = os.environ.get("MXC_SHARED", ROOT.parent / "shared")
    build = ROOT / "build"
    parser.add_argument("--cases", default=f"{shared}/cases/mxnet-python.tar.gz")
    parser.add_argument("--package", default=build / "runtime/python",
                        help="the folder that holds mxc")
    parser.add_argument("--python", default=sys.executable,
                        help="with numpy, scipy and pytest")
    parser.add_argument("--oracle", help="a Python with MXNet 1.9.1 and pytest; made "
                        "in the cache, by python3.8, where none is given")
    parser.add_argument("--cache", default=build / "mxnet-suite", type=Path)
    parser.add_argument("--only", default="", help="files whose path a regular expression finds")
    parser.add_argument("--kind", choices=["tests", "scripts"], help="one of the two")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--json", type=Path, help="all results")
    parser.add_argument("--logs", type=Path, help="a folder for what scripts print")
    parser.add_argument("--verbose", action="store_true",
                        help="what fails, and its last line")
    return parser.parse_args()


def make_oracle(cache):
    """A Python that has MXNet."""
    folder = cache / "oracle"
    python = folder / "bin/python"
    if not python.exists():
        subprocess.run(["python3.8", "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "-q"]
        subprocess.run([*pip, *ORACLE_PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", "mxnet==1.9.1"], check=True)
    return str(python)


class Side:
    """One of the two: how it runs a script or a module, and where."""

    def __init__(self, command, environment, tree, options):
        self.command, self.seconds, self.tree = command, options.seconds, tree
        self.environment = {**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": "1",
                            "OMP_NUM_THREADS": "2", "MPLBACKEND": "Agg"}
        self.results = tree.parent / f"{tree.name}.results"
        self.home = tree.parent / f"{tree.name}.home"
        self.cases = Path(options.cases).parent / "data"
        self.logs = options.logs and options.logs / tree.parent.name

    def _start(self, words, folder, environment=None, seconds=None):
        def limit():
            if seconds:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

        return subprocess.Popen(
            [*self.command, *words], cwd=folder, start_new_session=True,
            env={**self.environment, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)

    def tests(self, file):
        """{function: (outcome, why)} of a file; crashes and hangs are outcomes."""
        rows, broken = {}, None
        while True:
            done, found, running, broken = self._tests_once(file, rows)
            rows.update(done)
            if running is None or not found:
                break
            rows[running] = ("crashed", "the process ended or hung")
        if broken and not rows:
            rows["(the file)"] = ("failed", broken)
        return by_function(rows)

    def _tests_once(self, file, before):
        self.results.write_text("")
        process = self._start(
            ["-m", "pytest", "-q", "-p", "no:cacheprovider",
             "-p", "suite_plugin", file.name], file.parent,
            {"MXC_SUITE_RESULTS": str(self.results),
             "MXC_SUITE_SECONDS": str(self.seconds),
             "MXC_SUITE_DONE": json.dumps(list(before))})
        self._watch(process)
        return read_events(self.results)

    def _watch(self, process):
        """Until it ends, or writes nothing for longer than a test may take."""
        while process.poll() is None:
            try:
                process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                silent = time.time() - self.results.stat().st_mtime
                if silent > 5 * self.seconds + 60:
                    end(process)

    def scripts(self, file):
        """{run: (outcome, last line, seconds)} of a script."""
        if not self.home.exists():
            stand_ins.lay(self.tree, self.home, self.cases)
        name = str(file.relative_to(self.tree / "example"))
        lines = command_lines.LINES.get(name, [""])
        return {f"(script) {words}".strip(): self._script(file, words)
                for words in lines}

    def _script(self, file, words):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = self._start([file.name, *shlex.split(words)], file.parent,
                              {"HOME": str(self.home), "XDG_CACHE_HOME": os.environ.get(
                                  "XDG_CACHE_HOME", str(Path.home() / ".cache"))},
                              self.seconds)
        try:
            # Of the clock: longer, for who has a part of a processor.
            text, _ = process.communicate(timeout=5 * self.seconds)
        except subprocess.TimeoutExpired:
            text = end(process)
        self._keep(file, words, text)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = round(after.ru_utime + after.ru_stime
                        - before.ru_utime - before.ru_stime, 1)
        lines = text.decode(errors="replace").strip().splitlines()
        last = lines[-1][:300] if lines else ""
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "failed", f"took over {self.seconds} s", seconds
        if process.returncode < 0:
            return "crashed", f"signal {-process.returncode}", seconds
        return ("passed" if process.returncode == 0 else "failed"), last, seconds

    def _keep(self, file, words, text):
        """What a script printed, in a file of its name."""
        if self.logs:
            self.logs.mkdir(parents=True, exist_ok=True)
            name = str(file.relative_to(self.tree / "example")).replace("/", "_")
            with open(self.logs / name.replace(".py", ".log"), "ab") as log:
                log.write(f"==== {words}\n".encode() + text)


def end(process):
    """Ends a process and those that it started; what it had printed."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.communicate()[0]


def read_events(file):
    """What the plug-in wrote: what ended, what was found, what never ended."""
    rows, found, running, broken = {}, [], None, None
    for line in file.read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "found":
            found = event["names"]
        elif event["event"] == "begin":
            running = event["name"]
        elif event["event"] == "broken":
            broken = event["why"]
        elif rows.get(event["name"], ("passed",))[0] == "passed":
            rows[event["name"]] = (event["outcome"], event["why"])
            running = None
    return rows, found, running, broken


def by_function(rows):
    """Outcomes of functions: the worst of their parameters'."""
    order = ["crashed", "failed", "passed", "skipped"]
    functions = {}
    for name, row in rows.items():
        key = name.split("[")[0]
        if key not in functions or order.index(row[0]) < order.index(functions[key][0]):
            functions[key] = row
    return functions


def outcomes(side, file, is_script):
    return side.scripts(file) if is_script else side.tests(file)


def oracle_outcomes(side, options, digest, path, is_script):
    """MXNet's, from the cache where they are there."""
    kept = options.cache / digest / (path.replace("/", "_") + ".json")
    if is_script:
        kept = kept.with_suffix(f".{words_digest(path)}.json")
    if not kept.exists():
        rows = outcomes(side(), side().tree / path, is_script)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(rows))
    return json.loads(kept.read_text())


def words_digest(path):
    """Of what a script's runs are, so that other runs are not taken for them."""
    lines = command_lines.LINES.get(path.removeprefix("example/"), [""])
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


def files_of(tree, options):
    """(path, whether it is a script) of all that is run."""
    tests = [] if options.kind == "scripts" else sorted(
        (tree / "tests").rglob("test_*.py"))
    scripts = [] if options.kind == "tests" else sorted(
        file for file in (tree / "example").rglob("*.py")
        if "mxnet" in file.read_text(errors="replace"))
    for is_script, files in ((False, tests), (True, scripts)):
        for file in files:
            path = str(file.relative_to(tree))
            if re.search(options.only, path):
                yield path, is_script


def unpack(options, folder):
    with tarfile.open(options.cases) as tar:
        tar.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def main():
    options = arguments()
    digest = hashlib.sha256(Path(options.cases).read_bytes()).hexdigest()[:12]
    scratch = Path(tempfile.mkdtemp(prefix="mxnet-suite-"))
    sums = {False: [0, 0], True: [0, 0]}
    everything = {}
    try:
        trees = {}
        for name in ("mxnet", "mxc"):
            (scratch / name).mkdir()
            trees[name] = unpack(options, scratch / name)
        support = str(HERE / "support")
        ours = Side([options.python, "-m", "mxc.mxnet"],
                    {"PYTHONPATH": f"{options.package}:{support}"}, trees["mxc"],
                    options)
        made = []

        def oracle():
            if not made:
                python = options.oracle or make_oracle(options.cache)
                made.append(Side([python], {"PYTHONPATH": support}, trees["mxnet"],
                                 options))
            return made[0]

        for path, is_script in files_of(trees["mxc"], options):
            want = oracle_outcomes(oracle, options, digest, path, is_script)
            passed = [name for name, row in want.items() if row[0] == "passed"]
            got = (outcomes(ours, ours.tree / path, is_script) if passed else {})
            missing = ("failed", "not found")
            good = [name for name in passed
                    if got.get(name, missing)[0] == "passed"]
            report(path, passed, good, got, options.verbose)
            if is_script:
                report_seconds(want, got)
            sums[is_script][0] += len(passed)
            sums[is_script][1] += len(good)
            everything[path] = {"mxnet": want, "mxc": got}
            if options.json:
                options.json.write_text(json.dumps(everything, indent=1))
        report_sums(sums)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def report_sums(sums):
    for is_script, what in ((False, "test functions"), (True, "scripts")):
        of, good = sums[is_script]
        if of:
            print(f"{what}: MXNet passes {of}, mxc {good} ({100 * good / of:.1f} %)",
                  flush=True)


def report(path, passed, good, got, verbose):
    print(f"{path:<62} {len(passed):4d} {len(good):4d}", flush=True)
    if not verbose:
        return
    if list(got) == ["(the file)"]:
        print(f"    {got['(the file)'][1]}", flush=True)
        return
    for name in passed:
        if name not in good:
            outcome, why, *_ = got.get(name, got.get("(the file)", ("failed", "not found")))
            print(f"    {name}: {outcome}: {why}", flush=True)


def report_seconds(want, got):
    """A line for each run that both pass: its words, seconds of MXNet and mxc."""
    for name, row in want.items():
        mine = got.get(name)
        if mine and row[0] == mine[0] == "passed":
            print(f"    {name:<58} {row[2]:6.1f} {mine[2]:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
