# SPDX-License-Identifier: Apache-2.0
"""How good predictions are: metrics that batches update.

`create("acc")`, `create(["acc", "ce"])`, `create(function)`.
"""

from .base import (CompositeEvalMetric, EvalMetric, alias, check_label_shapes,
                   create, register)
from .classification import (F1, MCC, PCC, Accuracy, CrossEntropy,
                             NegativeLogLikelihood, Perplexity, TopKAccuracy)
from .custom import Caffe, CustomMetric, Loss, Torch, np
from .regression import MAE, MSE, RMSE, PearsonCorrelation

__all__ = ["Accuracy", "Caffe", "CompositeEvalMetric", "CrossEntropy",
           "CustomMetric", "EvalMetric", "F1", "Loss", "MAE", "MCC", "MSE",
           "NegativeLogLikelihood", "PCC", "PearsonCorrelation", "Perplexity",
           "RMSE", "TopKAccuracy", "Torch", "alias", "check_label_shapes",
           "create", "np", "register"]
