# SPDX-License-Identifier: Apache-2.0
"""Modules: symbols that are trained, scored and asked."""

from .base_module import BaseModule
from .bucketing_module import BucketingModule
from .executor_group import DataParallelExecutorGroup
from .module import Module
from .python_module import PythonLossModule, PythonModule
from .sequential_module import SequentialModule

__all__ = ["BaseModule", "BucketingModule", "DataParallelExecutorGroup", "Module",
           "PythonLossModule", "PythonModule", "SequentialModule"]
