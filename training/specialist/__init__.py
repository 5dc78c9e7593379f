"""The specialist: a small 1-D convolutional network for one class, trained on labels alone, in minutes on a CPU.

Like the networks of survey pipelines (CarbonNet, GaiaNet in the paper's table): a system to compare with, and the
weak classifier that finds hard negatives for ``spec-o3 bench build``. It gives a probability without a reason.
"""

from __future__ import annotations

from agent.policies.specialist.network import SpecialistError
from training.specialist.learning import SpecialistSettings
from training.specialist.model import Specialist, train

__all__ = ["Specialist", "SpecialistError", "SpecialistSettings", "train"]
