#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: mca.py BIN_DIR [--network NETWORK.json] [--least 0.9] [TARGET...]

How near the loops of a network's contractions come to the multiply-adds that a core
can begin, by LLVM's model of it (llvm-mca): for each target ("aarch64:cortex-a72") the
innermost loops of its kernels that multiply and add most, the cycles of one iteration,
and those of its multiply-adds alone, each by itself. A product of one row, which reads
each weight for one multiply-add, is bound by its loads instead. Nothing is run. Ends
with 1 where a loop reaches less than --least of that.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

CORES = ["aarch64:cortex-a72", "aarch64:cortex-a76", "aarch64:neoverse-n1",
         "aarch64:neoverse-v1", "aarch64:neoverse-v2"]
MULTIPLY_ADD = re.compile(r"\tfm(la|ls|ad|sb)\t(v\d+\.4s|z\d+\.s),")
# What no product of matrices has in its loop: functions' polynomials do.
OTHER = re.compile(r"\tf(add|sub|mul|div|cvt|rint|neg|max|min)\w*\t[vz]")
LOAD = re.compile(r"\t(ldp|ldr)\tq|\tldr\tz|\tld1w\t")
FEW = 8  # multiply-adds: loops of fewer are no register tile's


def run(*words, **how):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **how)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def loops(assembly):
    """(kernel, text) of blocks that branch to their own beginning."""
    kernel, label, block = "", "", []
    for line in assembly.splitlines():
        begins = re.match(r"([.\w]+):", line)
        if begins:
            if not begins[1].startswith(".L"):
                kernel = begins[1]
            label, block = begins[1], []
            continue
        block.append(line)
        branch = re.match(r"\t(?:b\.\w+|cbn?z\t\w+,|tbn?z\t\w+, #\d+,)\s*(\.L\w+)", line)
        if branch and branch[1] == label:
            yield kernel, [text for text in block if text.strip() and not text.startswith("\t.")]


def cycles(core, lines):
    """Of an iteration, among 200."""
    text = run("llvm-mca-19", "-mtriple=aarch64", f"-mcpu={core}", "-iterations=200",
               input="\n".join(lines) + "\n")
    return int(re.search(r"Total Cycles:\s+(\d+)", text)[1]) / 200


def bound(core, count, scalable):
    """Of so many multiply-adds to sums of their own."""
    each = "fmla\tz{0}.s, p0/m, z30.s, z31.s" if scalable else "fmla\tv{0}.4s, v30.4s, v31.4s"
    return cycles(core, ["\t" + each.format(i % 30) for i in range(count)])


def loads_bound(core, count, lines):
    """Of a loop's loads alone, where there are as many as multiply-adds; else 0."""
    loads = [line for line in lines if LOAD.match(line)]
    vectors = sum(2 if line.startswith("\tldp") else 1 for line in loads)
    return cycles(core, loads) if vectors >= count else 0


def look(binaries, target, network, folder):
    level, core = target.split(":")
    stem = folder / target.replace(":", "-")
    run(binaries / "mxc", "compile", network, "--init", "msra", "--seed", 3, "--target", target,
        "--emit", "asm", "--quiet", "-o", stem)
    best = {}
    for kernel, lines in loops(stem.with_suffix(".s").read_text()):
        count = sum(MULTIPLY_ADD.match(line) is not None for line in lines)
        if any(OTHER.match(line) for line in lines):
            continue
        if count >= max(FEW, best.get(kernel, (0, []))[0]):
            best[kernel] = (count, lines)
    known = collections.defaultdict(dict)
    for kernel, (count, lines) in sorted(best.items()):
        if count not in known[core]:
            known[core][count] = bound(core, count, "sve" in level)
        least = max(known[core][count], loads_bound(core, count, lines))
        yield kernel, count, cycles(core, lines), least


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[2])
    models = pathlib.Path(__file__).parents[2] / "models"
    options.add_argument("binaries", type=pathlib.Path)
    options.add_argument("targets", nargs="*", default=CORES)
    options.add_argument("--network", default=models / "resnet-50.json")
    options.add_argument("--least", type=float, default=0.9)
    given = options.parse_intermixed_args()
    worst = 1.0
    with tempfile.TemporaryDirectory() as folder:
        for target in given.targets:
            rows = list(look(given.binaries, target, given.network, pathlib.Path(folder)))
            for kernel, count, took, least in rows:
                print(f"{target:24} {count:4} multiply-adds {took:7.2f} cycles of {least:7.2f}"
                      f" {100 * least / took:6.1f} %  {kernel}")
            reached = min((least / took for _, _, took, least in rows), default=1)
            print(f"{target:24} {len(rows)} loops, the least {100 * reached:.1f} %")
            worst = min(worst, reached)
    sys.exit(worst < given.least)


main()
