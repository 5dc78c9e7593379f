"""How the specialist learns."""

from __future__ import annotations

from dataclasses import dataclass

from training.settings import SettingsError


@dataclass(frozen=True)
class SpecialistSettings:
    """The defaults are those of the shipped ``training/configs/specialist.yaml``.

    :param epochs: at most; ``patience`` epochs without a better validation loss end it
    :param steps: batches an epoch at least: a small set is gone through several times, each time varied anew
    :param held_out: part of the sources kept for validation: early stopping and the threshold
    :param noise: each spectrum is shown with up to so many times its own noise added
    :param shift: and moved by up to so many pixels of the grid (89 km/s each) to either side
    :param tilt: and multiplied by exp(a x + b x²), x from -1 to 1 over the grid, a and b normal with this
        standard deviation: reddening and calibration that nobody knows
    """

    seed: int = 0
    epochs: int = 40
    patience: int = 8
    batch: int = 32
    steps: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    dropout: float = 0.2
    held_out: float = 0.2
    noise: float = 1.0
    shift: int = 3
    tilt: float = 0.15

    def __post_init__(self) -> None:
        for name, least in (
            ("epochs", 1),
            ("patience", 1),
            ("batch", 2),
            ("steps", 1),
            ("shift", 0),
            ("seed", 0),
        ):
            if getattr(self, name) < least:
                raise SettingsError(f"{name}: found {getattr(self, name)}, wanted {least} or more")
        for name in ("weight_decay", "noise", "tilt"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SettingsError(f"{name}: found {getattr(self, name)}, wanted 0 or more")
        for name in ("held_out", "learning_rate"):
            if not 0 < getattr(self, name) < 1:
                raise SettingsError(f"{name}: found {getattr(self, name)}, wanted between 0 and 1")
        if not 0 <= self.dropout < 1:
            raise SettingsError(f"dropout: found {self.dropout}, wanted 0 or more, below 1")
