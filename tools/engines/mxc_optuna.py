# SPDX-License-Identifier: Apache-2.0
"""An objective for Optuna that trains a network, from one artifact for all
trials that differ in rates and seeds alone.

    import optuna
    from mxc_optuna import Objective
    objective = Objective(
        "mlp.json", images, labels, validation=(more, theirs), epochs=16,
        compiled={"batch": 64, "optimizer": "sgd"}, monitor="val_accuracy",
        suggest=lambda trial: {
            "lr": trial.suggest_float("lr", 1e-4, 1, log=True)})
    study = optuna.create_study(direction="maximize",
                                pruner=optuna.pruners.HyperbandPruner())
    study.optimize(objective, n_trials=64, n_jobs=2)

Each epoch's value is reported, so that pruners work. A training whose loss
becomes infinite is a trial that is pruned; what is wrong with a setting is
raised, and fails the trial or ends the study, as `catch` of optimize says.
"""

import optuna

from mxc_trials import Diverged, Trials


class Objective:
    """suggest: called with a trial, returns its settings, as mxc_trials.Trials
    has them. save: a prefix; what trial 7 has learned is PREFIX-7.params, and
    its attribute "params" says so. Others: as of Trials."""

    def __init__(self, network, *samples, suggest, save=None, **others):
        self._trials = Trials(network, *samples, **others)
        self._suggest, self._save = suggest, save

    @property
    def artifacts(self):
        """How many were compiled."""
        return self._trials.artifacts

    def __call__(self, trial):
        def report(value, epoch):
            trial.report(value, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned(f"after epoch {epoch}")

        save = self._save and f"{self._save}-{trial.number}.params"
        try:
            value = self._trials.train(self._suggest(trial), report, save)
        except Diverged as diverged:
            raise optuna.TrialPruned(str(diverged)) from None
        if save:
            trial.set_user_attr("params", save)
        return value
