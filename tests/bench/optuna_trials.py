#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: optuna_trials.py NETWORK [--trials 64] [--epochs 8] [--rounds 3]

Trials a minute of one search by Optuna, of an MLP on drawn digits (2048, and 512
to validate), by mxc and by PyTorch in turns: the same sampler, seed, pruner,
data, batch and optimizer, each trial on one thread. PyTorch gets its batches
from tensors that lie in memory, or by a DataLoader, as Optuna's own example has
it. Needs optuna, torch, NumPy and the Python package mxc.
"""

import argparse
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
    for _ in range(options.rounds):
        for name, maker in makers.items():
            found = search(maker(), options.trials)
            print(f"{name:15} {found[0]:7.2f} s  {found[1]:7.2f} s of processor"
                  f" time  {found[2]} epochs  best {found[3]:.4f}", flush=True)
            best[name] = min(best.get(name, found), found, key=lambda f: f[1])
    for name, found in best.items():
        print(f"{name:15} {60 * options.trials / found[1]:8.0f} trials a minute"
              " of processor time")
    for name in list(makers)[1:]:
        print(f"{name} / mxc {best[name][1] / best['mxc'][1]:.2f} by trials, "
              f"{best[name][1] / best[name][2] * best['mxc'][2] / best['mxc'][1]:.2f}"
              " by epochs")


main()
