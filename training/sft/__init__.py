"""The cold start: learning from what reviewers approved."""

from training.sft.settings import SftSettings

__all__ = ["SftSettings"]
