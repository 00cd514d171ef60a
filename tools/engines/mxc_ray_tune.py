# SPDX-License-Identifier: Apache-2.0
"""A trainable for Ray Tune that trains a network from one artifact.

    from ray import tune
    from mxc_ray_tune import trainable
    tuner = tune.Tuner(
        trainable("mlp.json", images, labels, validation=(more, theirs),
                  epochs=16, compiled={"batch": 64}, monitor="val_accuracy"),
        param_space={"lr": tune.loguniform(1e-4, 1)},
        tune_config=tune.TuneConfig(
            num_samples=64, metric="val_accuracy", mode="max",
            scheduler=tune.schedulers.ASHAScheduler(max_t=16)))
    best = tuner.fit().get_best_result()

Samples go to the object store once. Every process compiles what its trials
have of their own, and finds the kernels that another one has compiled.
"""

from ray import tune

from mxc_trials import Diverged, Trials


def _train(config, network, settings, samples, validation):
    trials = Trials(network, *samples, validation=validation, **settings)

    def report(value, epoch):
        tune.report({trials.monitor: value, "training_iteration": epoch})

    try:
        trials.train(config, report)
    except Diverged as diverged:  # what it has reported is not finite
        print(f"mxc: {diverged}")


def trainable(network, *samples, validation=None, **settings):
    """A function that tune.Tuner takes; its config is a trial's settings.
    Arguments: as mxc_trials.Trials has them."""
    return tune.with_parameters(_train, network=network, settings=settings,
                                samples=samples, validation=validation)
