# SPDX-License-Identifier: Apache-2.0
"""What a user of mxc_optuna.Objective relies on: trials.sh runs it."""

import numpy as np
import optuna

import mxc
from mxc_optuna import Objective
from trials_data import BATCH, EPOCHS, HELD, LEARNED, NETWORK, told_by_mxc

optuna.logging.set_verbosity(optuna.logging.ERROR)
State = optuna.trial.TrialState


def objective(suggest, **others):
    return Objective(NETWORK, *LEARNED, validation=HELD, epochs=EPOCHS,
                     monitor="val_accuracy", compiled={"batch": BATCH},
                     suggest=suggest, **others)


def rate(trial):
    return {"lr": trial.suggest_float("lr", 1e-3, 2, log=True)}


def study(pruner=None):
    return optuna.create_study(
        direction="maximize", pruner=pruner or optuna.pruners.NopPruner(),
        sampler=optuna.samplers.RandomSampler(seed=1))


def test_trials():
    """From one artifact, side by side; each is what mxc train makes of its
    rate, and is kept."""
    work, found = objective(rate, save="kept"), study()
    found.optimize(work, n_trials=6, n_jobs=2)
    assert work.artifacts == 1
    assert all(trial.state == State.COMPLETE for trial in found.trials)
    for trial in found.trials[:3]:
        told = told_by_mxc(trial.params["lr"])
        assert np.allclose([trial.intermediate_values[epoch]
                            for epoch in range(1, EPOCHS + 1)], told, atol=1e-6)
        assert trial.value == trial.intermediate_values[EPOCHS]
    best = found.best_trial
    model = mxc.compile(NETWORK, params=best.user_attrs["params"], batch=32)
    right = model(HELD[0]).argmax(axis=1) == HELD[1]
    assert abs(right.mean() - best.value) < 1e-6


def test_pruners():
    found = study(optuna.pruners.SuccessiveHalvingPruner(
        min_resource=1, reduction_factor=2))
    found.optimize(objective(rate), n_trials=12)
    pruned = [t for t in found.trials if t.state == State.PRUNED]
    assert any(len(t.intermediate_values) < EPOCHS for t in pruned)
    assert any(t.state == State.COMPLETE for t in found.trials)


def test_settings():
    """What is compiled makes another artifact; what is neither is the
    optimizer's."""
    work = objective(lambda trial: {
        **rate(trial), "seed": trial.suggest_int("seed", 1, 9),
        "momentum": trial.suggest_categorical("momentum", [0.0, 0.9])})
    found = study()
    for momentum in 0.0, 0.9, 0.9, 0.0:
        found.enqueue_trial({"momentum": momentum})
    found.optimize(work, n_trials=4)
    assert work.artifacts == 2, work.artifacts


def test_what_goes_wrong():
    found = study()
    found.optimize(objective(lambda trial: {"lr": 1e38}), n_trials=2)
    assert [t.state for t in found.trials] == [State.PRUNED] * 2
    wrong = objective(lambda trial: {"lr": 0.1, "momentun": 0.9})
    found = study()
    found.optimize(wrong, n_trials=1, catch=(Exception,))
    assert found.trials[0].state == State.FAIL
    try:
        study().optimize(wrong, n_trials=1)
    except mxc.CompileError as error:
        assert "momentun" in str(error)
    else:
        raise AssertionError("an unknown attribute is taken")


for test in (test_trials, test_pruners, test_settings, test_what_goes_wrong):
    test()
    print(test.__name__[5:], flush=True)
