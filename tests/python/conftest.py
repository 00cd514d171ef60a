# SPDX-License-Identifier: Apache-2.0
import pathlib

import numpy as np
import pytest

import mxc

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def models() -> pathlib.Path:
    return ROOT / "models"


@pytest.fixture(scope="session")
def mlp(models, tmp_path_factory):
    """Entries of batches 1 and 8."""
    path = tmp_path_factory.mktemp("mlp") / "mlp.mxa"
    return mxc.compile(models / "mlp.json", path, init="xavier", seed=7,
                       batch=[1, 8], threads=1)


@pytest.fixture
def images():
    return np.random.default_rng(1).random((8, 1, 28, 28), np.float32)
