#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: optuna_trials.py NETWORK [--trials 64] [--epochs 8] [--rounds 3]

Trials a minute of one search by Optuna, of an MLP on drawn digits (2048, and 512
to validate), by mxc and by PyTorch in turns: the same sampler, seed, pruner,
data, batch and optimizer, each trial on one thread. PyTorch gets its batches
from tensors that lie in memory, or by a DataLoader, as Optuna's own example has
it. `mxc tune` prunes by the same rule and draws its own rates; its data are files,
and it keeps a record to go on from. Needs optuna, torch, NumPy and the Python
package mxc, with its program mxc on the path.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import tempfile
import time
import warnings

import numpy as np
import optuna
import torch

import mxc
from mxc_optuna import Objective

BATCH = 64


def digits():
    """Images and labels: to learn from, and to validate."""
    source = mxc.data("digits", BATCH, shape=(1, 28, 28),
                      options={"size": 2048})
    found = []
    for samples, count in ((source, 2048), (source.held_out(), 512)):
        columns = [np.concatenate(column) for column in zip(*samples)]
        found.append([column[:count] for column in columns])
    return found


class Torch:
    """The loop that one writes."""

    def __init__(self, learned, held, epochs, loads):
        self._x, self._y = map(torch.from_numpy, learned)
        self._vx, self._vy = map(torch.from_numpy, held)
        self._y, self._vy = self._y.long(), self._vy.long()
        self._epochs = epochs
        self._loader = torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(self._x, self._y), BATCH,
            shuffle=True) if loads else None

    def _batches(self):
        if self._loader is not None:
            yield from self._loader
            return
        order = torch.randperm(len(self._x))
        for first in range(0, len(order), BATCH):
            rows = order[first:first + BATCH]
            yield self._x[rows], self._y[rows]

    def __call__(self, trial):
        net = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(784, 128), torch.nn.ReLU(),
            torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
        rate = trial.suggest_float("lr", 1e-4, 1, log=True)
        optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
        loss = torch.nn.CrossEntropyLoss()
        for epoch in range(1, self._epochs + 1):
            for x, y in self._batches():
                optimizer.zero_grad()
                loss(net(x), y).backward()
                optimizer.step()
            with torch.no_grad():
                said = net(self._vx).argmax(dim=1)
            accuracy = (said == self._vy).float().mean().item()
            trial.report(accuracy, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned
        return accuracy


def search(objective, trials):
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1),
        pruner=optuna.pruners.SuccessiveHalvingPruner(
            min_resource=1, reduction_factor=4))
    wall, processor = time.perf_counter(), time.process_time()
    study.optimize(objective, n_trials=trials)
    wall = time.perf_counter() - wall
    processor = time.process_time() - processor
    epochs = sum(len(t.intermediate_values) for t in study.trials)
    return wall, processor, epochs, study.best_value


def tune(network, data, trials, epochs):
    """As search, by mxc tune."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        words = []
        for name, columns in zip(("data", "val"), data):
            paths = [f"{folder}/{name}{i}.npy" for i in range(2)]
            for path, column in zip(paths, columns):
                np.save(path, column)
            words += [f"--{name}", "npy:" + ",".join(paths)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        done = subprocess.run(
            ["mxc", "tune", network, *words, "--batch-size", str(BATCH), "--opt",
             "momentum=0.9", "--search", "lr=log(1e-4,1)", "--trials",
             str(trials), "--epochs", str(epochs), "--reduction", "4",
             "--parallel", "1", "--threads", "1", "--objective", "accuracy",
             "--seed", "1", "--save", folder + "/s"], check=True,
            capture_output=True, text=True)
        wall = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        record = pathlib.Path(folder, "s.tune.jsonl").read_text()
    values = [float(v) for v in re.findall(r'"epoch":.*"value":([\d.]+)', record)]
    assert values, done.stderr
    return (wall, after.ru_utime + after.ru_stime - before.ru_utime
            - before.ru_stime, len(values), max(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    learned, held = digits()

    def mxcs():
        return Objective(
            options.network, *learned, validation=tuple(held),
            epochs=options.epochs, monitor="val_accuracy",
            compiled={"batch": BATCH, "attributes": {"momentum": 0.9}},
            suggest=lambda trial: {
                "lr": trial.suggest_float("lr", 1e-4, 1, log=True)})

    def torchs(loads):
        return lambda: Torch(learned, held, options.epochs, loads)

    makers = {"mxc": mxcs, "PyTorch": torchs(False),
              "PyTorch, loader": torchs(True)}
    best = {}
    for name, maker in makers.items():  # what is done once, compiling above all
        search(maker(), 2)
    runs = {name: lambda maker=maker: search(maker(), options.trials)
            for name, maker in makers.items()}
    runs["mxc tune"] = lambda: tune(
        options.network, (learned, held), options.trials, options.epochs)
    for _ in range(options.rounds):
        for name, run in runs.items():
            found = run()
            print(f"{name:15} {found[0]:7.2f} s  {found[1]:7.2f} s of processor"
                  f" time  {found[2]} epochs  best {found[3]:.4f}", flush=True)
            best[name] = min(best.get(name, found), found, key=lambda f: f[1])
    for name, found in best.items():
        print(f"{name:15} {60 * options.trials / found[1]:8.0f} trials a minute"
              f" of processor time, {60 * options.trials / found[0]:.0f} by the"
              " clock")
    for ours in ("mxc", "mxc tune"):
        for name in list(makers)[1:]:
            a, b = best[name], best[ours]
            print(f"{name} / {ours} {a[1] / b[1]:.2f} by trials, "
                  f"{a[1] / a[2] * b[2] / b[1]:.2f} by epochs; by the clock "
                  f"{a[0] / b[0]:.2f}")


main()
