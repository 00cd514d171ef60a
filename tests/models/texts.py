#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts of a small GPT-2 beside numpy's.

    texts.py BIN

A network as models/gpt2-small.json, with fewer and smaller layers and weights
that mxc draws, goes on with prompts of bytes, always with the likeliest of the
256 first tokens: `mxc sample` token by token, in two streams, numpy with the
whole text for every token. Prints both where they differ, and ends with 1.
Needs numpy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
LAYERS, HEADS, SIZE, TOKENS, PLACES = 3, 4, 64, 300, 160
PROMPTS = ["a", "the quick brown fox", "x" * 70, "", "0123456789" * 14]
LENGTH = 30


def layer_norm(x, w, name):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    return x * w[name + "_gamma"] + w[name + "_beta"]


def dense(x, w, name):
    return x @ w[name + "_weight"].T + w[name + "_bias"]


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def attention(x, w, name):
    rows = len(x)
    query, key, value = (
        part.reshape(rows, HEADS, -1).swapaxes(0, 1)
        for part in np.split(dense(x, w, name + "_qkv"), 3, -1))
    scores = query @ key.swapaxes(1, 2) / np.sqrt(SIZE // HEADS)
    scores[:, np.triu(np.ones((rows, rows), bool), 1)] = -np.inf
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    joined = (shares @ value).swapaxes(0, 1).reshape(rows, -1)
    return dense(joined, w, name + "_output")


def next_token(tokens, w):
    x = w["embed_weight"][tokens] + w["position_embed_weight"][:len(tokens)]
    for i in range(1, LAYERS + 1):
        name = f"layer{i}"
        normed = layer_norm(x, w, name + "_attention_norm")
        x = x + attention(normed, w, name + "_attention")
        inner = dense(layer_norm(x, w, name + "_norm"), w, name + "_inner")
        x = x + dense(gelu(inner), w, name + "_output")
    scores = layer_norm(x[-1], w, "norm") @ w["embed_weight"].T
    return int(scores[:256].argmax())


def written(prompt, w):
    tokens = list(prompt.encode()) or [0]
    given = len(tokens)
    while len(tokens) - given < LENGTH and len(tokens) <= PLACES:
        tokens.append(next_token(tokens, w))
    return bytes(tokens[given:])


def main(binaries):
    mxc = os.path.abspath(os.path.join(binaries, "mxc"))
    text = (MODELS / "gpt2-small.json").read_text()
    text = text.replace('"layers": 12, "heads": 12, "size": 768, '
                        '"tokens": 50257, "places": 1024',
                        f'"layers": {LAYERS}, "heads": {HEADS}, '
                        f'"size": {SIZE}, "tokens": {TOKENS}, '
                        f'"places": {PLACES}')
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            return subprocess.run([mxc, *command], cwd=folder, check=True,
                                  capture_output=True).stdout
        path = pathlib.Path(folder)
        (path / "net.json").write_text(text)
        (path / "prompts.txt").write_text("\n".join(PROMPTS) + "\n")
        run("convert", "net.json", "--init", "normal:0.3",
            "--input-shape", "data:1x4", "-o", "w.npz")
        run("compile", "net.json", "--params", "w.npz", "--streams", "2",
            "--prefill", "16")
        answer = json.loads(run("sample", "net.mxa", "--prompts",
                                "prompts.txt", "--temperature", "0",
                                "--length", str(LENGTH), "--json"))
        with np.load(path / "w.npz") as arrays:
            weights = {name.split(":")[-1]: arrays[name].astype(np.float64)
                       for name in arrays.files}
    different = 0
    for prompt, text in zip(PROMPTS, answer["texts"]):
        expected = written(prompt, weights)
        if text["text"] != prompt + expected.decode(errors="replace"):
            print(f"{prompt!r}: {text['text']!r}, numpy {expected!r}")
            different += 1
    print(f"{len(PROMPTS) - different} of {len(PROMPTS)} texts are the same, "
          f"{sum(text['symbols'] for text in answer['texts'])} tokens")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
