# SPDX-License-Identifier: Apache-2.0
"""What a user of mxc_ray_tune.trainable relies on: trials.sh runs it."""

import os

import numpy as np
import ray
from ray import tune
from ray.tune.schedulers import ASHAScheduler

from mxc_ray_tune import trainable
from trials_data import BATCH, EPOCHS, HELD, LEARNED, NETWORK, told_by_mxc

here = os.path.dirname(os.path.abspath(__file__))
ray.init(num_cpus=2, include_dashboard=False, logging_level="error",
         _node_ip_address="127.0.0.1")
work = trainable(NETWORK, *LEARNED, validation=HELD, epochs=EPOCHS,
                 monitor="val_accuracy", compiled={"batch": BATCH})
found = tune.Tuner(
    work, param_space={"lr": tune.grid_search([1e-3, 1e-2, 0.3, 1.0, 2.0, 1e38])},
    run_config=tune.RunConfig(storage_path=os.getcwd(), verbose=0),
    tune_config=tune.TuneConfig(
        metric="val_accuracy", mode="max", max_concurrent_trials=1,
        scheduler=ASHAScheduler(max_t=EPOCHS, grace_period=1,
                                reduction_factor=2))).fit()
assert not found.errors, found.errors
best = found.get_best_result()
epochs = [result.metrics["training_iteration"] for result in found
          if "training_iteration" in result.metrics]
assert min(epochs) < EPOCHS == best.metrics["training_iteration"], epochs
told = told_by_mxc(best.config["lr"])
assert np.allclose(best.metrics_dataframe["val_accuracy"], told, atol=1e-6)
print("trials that ASHA stops, and what mxc train says of the best")
