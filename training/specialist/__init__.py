"""A specialist: a small 1-D convolutional network for one class, trained on labels alone.

It is what survey pipelines use (CarbonNet, GaiaNet in the paper's table), made small enough to train on two
CPU cores in minutes: a contender to be measured on the split that everybody else is measured on, and the weak
classifier that finds hard negatives for ``spec-o3 bench build``. It reads numbers, says a probability, and
gives no reason.
"""

from __future__ import annotations

from training.specialist.learning import SpecialistError, SpecialistSettings
from training.specialist.model import Specialist, train

__all__ = ["Specialist", "SpecialistError", "SpecialistSettings", "train"]
