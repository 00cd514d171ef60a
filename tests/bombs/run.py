#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that nobody means well, through the commands.

run.py BIN_DIR [--every N] [--seconds S] [KIND...]

Writes each bomb into a temporary folder and runs compile, inspect, dot and
convert on it, in 4 GiB of address space. A command must end within S seconds of
the processor (20) with 0 or 1, an error must be a sentence of bounded length, and
nothing that it prints or writes may hold a control character. --every N takes one
bomb in N, in the middle of each N: the first of a kind are networks as large as
any.
"""
import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata

NUMBERS = [0, -1, 7, 2**15, 2**24, 2**31 - 1, 2**31, 2**32, 2**40, 2**46, 2**47,
           2**53, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, 1.5, 1e308]
NAMES = ["\x1b[31mred", "\x9b2J", "a\nb", "a\tb", "\x7f", "\u202etxt.exe",
         "\u2066x", "\u2028", "../../../tmp/x", "/etc/x", "\"quoted\"", "<b>&",
         "x\\", "\\\"", "", " ", "$(id)", "%s%n", "a" * 5000, "\uffff", "重み",
         "C:\\x", "\u0000", "--help"]


def own(nodes, **more):
    return json.dumps({"mxc": 1, "inputs": {"data": [2, 8]}, "nodes": nodes,
                       **more})


def symbol(nodes, heads=None, **more):
    text = {"nodes": nodes,
            "arg_nodes": [i for i, n in enumerate(nodes) if n["op"] == "null"],
            "heads": heads or [[len(nodes) - 1, 0, 0]], **more}
    return json.dumps(text)


def variable(name, **attrs):
    return {"op": "null", "name": name, "inputs": [],
            **({"attrs": attrs} if attrs else {})}


def node(op, name, inputs, **attrs):
    return {"op": op, "name": name, "inputs": [[i, 0, 0] for i in inputs],
            "attrs": {k: str(v) for k, v in attrs.items()}}


def extreme_numbers():
    """One number of a layer, or of an input, is extreme."""
    for n in NUMBERS:
        yield own([{"op": "FullyConnected", "num_hidden": n}])
        yield own([{"op": "one_hot", "depth": n}])
        yield own([{"op": "tile", "reps": [n, n]}])
        yield own([{"op": "repeat", "repeats": n, "axis": 0}])
        yield own([{"op": "Embedding", "input_dim": n, "output_dim": n}])
        yield own([{"op": "_zeros", "shape": [n, n]}])
        yield own([{"op": "_eye", "N": n}])
        yield own([{"op": "_arange", "start": 0, "stop": n, "step": 1e-3}])
        yield own([{"op": "slice_axis", "axis": 1, "begin": n, "end": n}])
        yield own([{"op": "Reshape", "shape": [n, -1]}])
        yield own([{"op": "Pad", "mode": "edge", "pad_width": [0, 0, 0, 0, n, n,
                                                              n, n]}],
                  inputs={"data": [1, 1, 4, 4]})
        yield own([{"op": "Convolution", "kernel": [3, 3], "num_filter": n,
                    "stride": [n, n], "pad": [n, n], "dilate": [n, n]}],
                  inputs={"data": [1, 3, 8, 8]})
        yield own([{"op": "Pooling", "kernel": [n, n], "pad": [n, n]}],
                  inputs={"data": [1, 3, 8, 8]})
        yield own([{"op": "Deconvolution", "kernel": [2, 2], "num_filter": 4,
                    "stride": [n, n]}], inputs={"data": [1, 3, 8, 8]})
        yield own([{"op": "UpSampling", "scale": n, "sample_type": "nearest"}],
                  inputs={"data": [1, 3, 8, 8]})
        yield own([{"op": "RNN", "state_size": n, "num_layers": n,
                    "mode": "lstm"}], inputs={"data": [3, 2, 4]})
        yield own([{"op": "Flatten"}], inputs={"data": [n, n]})
        yield own([{"op": "Flatten"}], inputs={"data": [1, n]})


def shapes():
    """Ranks and bytes that no tensor has."""
    for rank in (0, 8, 9, 17, 1000, 100000):
        yield own([{"op": "relu"}], inputs={"data": [1] * rank})
        yield symbol([variable("data", __shape__=str(tuple([1] * rank))),
                      node("relu", "r", [0])])
    for shape in ("(0, 3)", "(-5,)", "(4611686018427387904, 4)",
                  "(2147483648, 2147483648)", "(99999999999999999999,)"):
        yield symbol([variable("data", __shape__=shape),
                      node("Flatten", "f", [0])])
        yield symbol([node("_zeros", "z", [], shape=shape)])
    doubling = [{"op": "Concat", "inputs": [[], []], "dim": 1}]
    yield own(doubling * 60)
    yield own([{"op": "expand_dims", "axis": 0}] * 20)
    yield own([{"op": "FullyConnected", "num_hidden": 2**31}] * 2)
    yield own([{"op": "slice_axis", "axis": 1, "begin": 3, "end": 3}])
    yield own([{"op": "FullyConnected", "num_hidden": 3}],
              inputs={"data": [1, 0]})


def lists():
    """Lists of attributes that are far longer than any tensor has axes."""
    for n in (1000, 10000, 100000):
        ones, axes = [1] * n, list(range(n))
        for layer in ({"op": "Reshape", "shape": ones},
                      {"op": "reshape_like", "inputs": ["data", "data"]},
                      {"op": "transpose", "axes": axes},
                      {"op": "slice", "begin": ones, "end": [2] * n},
                      {"op": "tile", "reps": ones},
                      {"op": "Pad", "mode": "constant", "pad_width": ones},
                      {"op": "broadcast_to", "shape": ones},
                      {"op": "sum", "axis": axes},
                      {"op": "squeeze", "axis": axes},
                      {"op": "_ones", "shape": ones},
                      {"op": "_split_v2", "indices": axes},
                      {"op": "Convolution", "kernel": ones, "num_filter": 1},
                      {"op": "Pooling", "kernel": ones}):
            yield own([layer])
            op = layer["op"]
            attrs = {k: tuple(v) if isinstance(v, list) else v
                     for k, v in layer.items() if k not in ("op", "inputs")}
            inputs = [] if op == "_ones" else [0]
            yield symbol([variable("data", __shape__="(2, 8)"),
                          node(op, "layer", inputs, **attrs)])


def turns():
    """Repetitions and blocks that make much of little."""
    inner = {"op": "Activation", "act_type": "relu"}
    for body in (inner, {"nodes": []}, {**inner, "if": False}):
        for depth in (1, 2, 3):
            element = body
            for _ in range(depth):
                element = {"repeat": 100000, "nodes": [element]}
            yield own([element])
    yield own([{"repeat": 10**18, "nodes": []}])
    chain = {f"b{i}": {"nodes": [{"block": f"b{i + 1}"}] * 2}
             for i in range(30)}
    yield own([{"block": "b0"}], blocks={**chain, "b30": {"nodes": []}})
    itself = {"b": {"nodes": [{"block": "b"}]}}
    yield own([{"block": "b"}], blocks=itself)
    grown = {"c0": list(range(10))}
    for i in range(30):
        grown[f"c{i + 1}"] = [f"$c{i}"] * 10
    yield own([inner], constants=grown)
    text = {"s0": "x" * 1000}
    for i in range(30):
        text[f"s{i + 1}"] = f"${{s{i}}}${{s{i}}}"
    yield own([{**inner, "name": "$s30"}], constants=text)
    long_list = list(range(100000))
    yield own([{"repeat": 100000, "nodes": [{"if": "$big[i % 7] == 8", **inner}]}],
              constants={"big": long_list})
    yield own([{"repeat": 100000, "nodes": [{"if": "$" + "1+" * 5000 + "1 == 2",
                                             **inner}]}])
    for size in (49, 51, 100000):
        yield own([{**inner, "if": "$" + "(" * size + "1" + ")" * size + "==1"}])
        yield own([{**inner, "if": "$" + "-" * size + "1 < 2"}])
    yield own([{**inner, "inputs": [[], [], []]}])


def nesting():
    """Deep and wide texts."""
    for depth in (90, 101, 100000):
        yield '{"mxc": 1, "nodes": ' + "[" * depth + "]" * depth + "}"
        yield '{"a":' * depth + "1" + "}" * depth
        deep = {"op": "relu"}
        if depth < 1000:
            for _ in range(depth // 2):
                deep = {"nodes": [deep]}
            yield own([deep])
    yield own([{"op": "relu", **{f"a{i}": i for i in range(20000)}}])
    yield own([{"op": "nope"} for _ in range(20000)])
    yield own([{"op": "relu", "inputs": [f"x{i}"]} for i in range(20000)])
    yield own([{"op": "relu"}], outputs=["data"] * 2000)
    wide = [variable(f"v{i}") for i in range(2000)]
    yield symbol(wide + [node("add_n", "s", range(2000), num_args=2000)])
    yield symbol(wide + [node("Concat", "s", range(2000), num_args=2000)])
    yield symbol([variable("data"), node("relu", "r", [0])],
                 heads=[[1, 0, 0]] * 4000)
    yield symbol([variable("data"), node("relu", "r", [1])])
    yield symbol([variable("data"), node("relu", "r", [2**31])])
    yield symbol([variable("data"), node("relu", "r", [0])], heads=[[1, 2**40, 0]])
    yield symbol([variable("data"), node("SliceChannel", "s", [0],
                                         num_outputs=2**31)])
    yield symbol([variable("data"), node("Concat", "s", [0], num_args=2**31)])
    yield '{"mxc": 1, "mxc": 1}'
    yield "{" + ", ".join(f'"k{i % 100}": 1' for i in range(20000)) + "}"
    yield "[" * 10
    yield "\ufeff{}"
    yield "null"


def names():
    """Names that mean something to whoever shows them."""
    for name in NAMES:
        yield own([{"op": "FullyConnected", "name": name, "num_hidden": 3}])
        yield own([{"op": name}])
        yield own([{"op": "relu", name: name}])
        yield own([{"op": "relu"}], name=name, inputs={name: [2, 8]})
        yield own([{"op": "relu", "inputs": [name]}])
        yield symbol([variable(name, __shape__="(2, 8)"),
                      node("FullyConnected", name + "_fc", [0, 2, 3],
                           num_hidden=3),
                      ][:1] + [variable(name + "_w"), variable(name + "_b"),
                               node("FullyConnected", name + "_fc", [0, 1, 2],
                                    num_hidden=3)])
        yield symbol([variable("data"), node(name, name, [0], **{name: name})])


KINDS = {f.__name__: f for f in (extreme_numbers, shapes, lists, turns,
                                    nesting, names)}


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def controls(text, allowed):
    """What a terminal would obey in `text`."""
    return {hex(ord(c)) for c in text if c not in allowed and
            (unicodedata.category(c) == "Cc" or
             unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF",
                                              "LRI", "RLI", "FSI", "PDI"))}


def complaints(result):
    """What is wrong with how a command ended."""
    if result.returncode == -signal.SIGXCPU:
        yield "is not done in time"
    elif result.returncode not in (0, 1):
        yield f"ended with {result.returncode}"
    error = result.stderr.decode("utf-8", "backslashreplace")
    output = result.stdout.decode("utf-8", "backslashreplace")
    if result.returncode == 1 and "error" not in error + output:
        yield "says nothing"
    if "internal error" in error:
        yield "blames itself"
    if len(error) > 2_000_000:
        yield f"says {len(error)} characters"
    for text in (error, output):
        if controls(text, "\n\t"):
            yield f"prints {controls(text, chr(10) + chr(9))}"


def commands(binary, path, folder):
    mxc = os.path.join(binary, "mxc")
    yield [mxc, "compile", path, "--init", "zero", "--input-shape", "data:2x8",
           "-o", os.path.join(folder, "out.mxa"), "--object-cache", "off"]
    yield [mxc, "inspect", path, "--memory", "--steps"]
    yield [mxc, "inspect", path, "--ops", "--json"]
    yield [mxc, "dot", path, "-o", os.path.join(folder, "out.dot")]
    yield [mxc, "convert", path, "-o", os.path.join(folder, "out-symbol.json")]


def written_complaints(binary, folder, draw):
    """Files are text without control characters, and what their readers read."""
    readers = {"out-symbol.json": [os.path.join(binary, "mxc"), "inspect", "--ops"]}
    if draw and shutil.which("dot"):
        readers["out.dot"] = ["dot", "-Tsvg", "-o", os.devnull]
    for name in ("out.dot", "out-symbol.json"):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            found = controls(file.read(), "\n")
        if found:
            yield f"{name} holds {found}"
        if name in readers:
            result = subprocess.run([*readers[name], path], capture_output=True,
                                    check=False)
            if result.returncode != 0 or b"syntax" in result.stderr:
                yield f"{name} cannot be read: {result.stderr[:200]!r}"


def run(binary, kind, number, text, seconds, failures):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{kind}-{number}.json")
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
        found = []
        for command in commands(binary, path, folder):
            result = subprocess.run(command, capture_output=True, check=False,
                                    preexec_fn=lambda: limit(seconds))
            wrong = list(complaints(result))
            found += [f"{command[1]}: {w}" for w in wrong]
        found += list(written_complaints(binary, folder, kind == "names"))
        for w in found:
            failures.append(f"{kind}-{number}: {w}: {text[:160]!r}")
            print(failures[-1], flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args()
    failures, count = [], 0
    for kind in options.kinds or KINDS:
        for number, text in enumerate(KINDS[kind]()):
            if number % options.every != options.every // 2:
                continue
            run(options.binary, kind, number, text, options.seconds, failures)
            count += 1
    print(f"{count} bombs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
