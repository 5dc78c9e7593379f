"""The specialist: settings, network, and training loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass as settings_dataclass

from agent.policies.specialist.grid import CHANNELS, PIXELS, Float32, Sampled, channels
from agent.policies.specialist.network import FILTERS, GROUP, HIDDEN, STRIDE, WIDTHS
from agent.settings_file import Whole
from training.settings import CLOSED, AtLeast0, AtLeast1, Fraction, Real

BetweenZeroAndOne = Annotated[Real, Field(gt=0, lt=1, description="a number between 0 and 1")]
NotNegative = Annotated[Real, Field(ge=0, lt=math.inf, description="a number, 0 or more")]


@settings_dataclass(frozen=True, config=CLOSED)
class SpecialistSettings:
    """Settings; the defaults are those of the shipped ``training/configs/specialist.yaml``.

    :param epochs: at most; ``patience`` epochs without a better validation loss end it
    :param steps: least batches per epoch: a small set is repeated, varied anew each time
    :param held_out: part of the sources kept for validation: early stopping and the threshold
    :param noise: up to so many times its own noise is added to each spectrum
    :param shift: and it is shifted by up to so many pixels of the grid (89 km/s each) to either side
    :param tilt: and multiplied by exp(a x + b x²), x from -1 to 1 over the grid, a and b normal with this
        standard deviation: unknown reddening and calibration
    """

    seed: AtLeast0 = 0
    epochs: AtLeast1 = 40
    patience: AtLeast1 = 8
    batch: Annotated[Whole, Field(ge=2, description="a whole number, 2 or more")] = 32
    steps: AtLeast1 = 16
    learning_rate: BetweenZeroAndOne = 2e-3
    weight_decay: NotNegative = 0.01
    dropout: Fraction = 0.2
    held_out: BetweenZeroAndOne = 0.2
    noise: NotNegative = 1.0
    shift: AtLeast0 = 3
    tilt: NotNegative = 0.15


def network(dropout: float) -> Any:
    """Return a ``torch.nn.Module`` from (batch, CHANNELS, PIXELS) to (batch,) log odds, initialised by torch's
    generator. ``agent.policies.specialist.network`` computes the same with numpy.
    """
    from torch import nn

    class Network(nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            layers: list[Any] = []
            before = CHANNELS
            for filters, width in zip(FILTERS, WIDTHS, strict=True):
                layers += [
                    nn.Conv1d(before, filters, width, stride=STRIDE, padding=width // 2),
                    nn.GroupNorm(filters // GROUP, filters),
                    nn.GELU(),
                ]
                before = filters
            self.body = nn.Sequential(*layers)
            self.head = nn.Sequential(
                nn.Dropout(dropout), nn.Linear(2 * before, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 1)
            )

        def forward(self, rows: Any) -> Any:
            import torch

            seen = self.body(rows)
            return self.head(torch.cat([seen.mean(-1), seen.amax(-1)], dim=-1)).squeeze(-1)

    return Network()


Bools = NDArray[np.bool_]
OnEpoch = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class Learned:
    """A trained network, the threshold, and its training log.

    :param log: one line per epoch: loss in training, loss and F1 on the held-out sources
    :param kept: the epoch whose weights these are, from 1
    """

    network: Any
    threshold: float
    f1: float
    kept: int
    log: tuple[dict[str, float], ...]


def learn(
    rows: Sampled,
    yes: Bools,
    held_out: Bools,
    settings: SpecialistSettings,
    on_epoch: OnEpoch = lambda _: None,
) -> Learned:
    """Train on spectra already on the grid.

    :param yes: (spectra,) the labels
    :param held_out: (spectra,) which are for validation; both classes are to be on both sides
    :param on_epoch: called after each epoch
    """
    import torch

    rng = np.random.default_rng(settings.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        net = network(settings.dropout)
        course = _Course(net, settings, float(yes[~held_out].mean()))
        best: tuple[float, int, dict[str, Any]] = (np.inf, 0, {})
        log: list[dict[str, float]] = []
        unseen, truth = channels(rows[np.flatnonzero(held_out)]), yes[held_out]
        for epoch in range(1, settings.epochs + 1):
            loss = course.epoch(rows, yes, np.flatnonzero(~held_out), rng)
            odds = log_odds(net, unseen)
            line = {"epoch": epoch, "loss": loss, "held_out_loss": _loss(odds, truth)}
            line["held_out_f1"] = threshold_for(_probability(odds), truth)[1]
            log.append(line)
            on_epoch(line)
            if line["held_out_loss"] < best[0]:
                kept = {name: value.clone() for name, value in net.state_dict().items()}
                best = line["held_out_loss"], epoch, kept
            elif epoch - best[1] >= settings.patience:
                break
        net.load_state_dict(best[2])
    threshold, f1 = threshold_for(_probability(log_odds(net, unseen)), truth)
    return Learned(net, threshold, f1, best[1], tuple(log))


def log_odds(net: Any, rows: Float32, batch: int = 128) -> NDArray[np.float64]:
    """Return the log odds of YES (spectra,) for rows (spectra, CHANNELS, PIXELS)."""
    import torch

    net.eval()
    with torch.inference_mode():
        parts = [net(torch.from_numpy(rows[at : at + batch])).numpy() for at in range(0, len(rows), batch)]
    return np.concatenate([np.zeros(0), *parts]).astype(np.float64)


def threshold_for(p: NDArray[np.float64], yes: Bools) -> tuple[float, float]:
    """Return the threshold of YES with the best F1 of the positive class, and that F1; among equal ones that nearest to
    one half.
    """
    values = np.unique(p)
    cuts = np.concatenate([[0.5], 0.5 * (values[1:] + values[:-1])])
    scores = [_f1(p >= cut, yes) for cut in cuts]
    best = max(range(len(cuts)), key=lambda i: (scores[i], -abs(cuts[i] - 0.5)))
    return float(cuts[best]), scores[best]


def varied(rows: Sampled, rng: np.random.Generator, settings: SpecialistSettings) -> Sampled:
    """Return the same objects observed again: noisier, at another velocity, with another slope."""
    number = len(rows)
    x = np.linspace(-1, 1, PIXELS)
    slope, bend = rng.normal(0, settings.tilt, (2, number, 1))
    tilt = np.exp(slope * x + bend * (x**2 - 1 / 3))
    more = rng.uniform(0, settings.noise, (number, 1))
    flux = (rows.flux + rng.standard_normal(rows.flux.shape) * rows.sigma * more) * tilt
    moved = Sampled(
        flux.astype(np.float32),
        (rows.sigma * np.sqrt(1 + more**2) * tilt).astype(np.float32),
        rows.seen,
    )
    shifts = rng.integers(-settings.shift, settings.shift + 1, number)
    return Sampled(*(_shifted(row, shifts) for row in (moved.flux, moved.sigma, moved.seen)))


class _Course:
    """The optimiser and the training data."""

    def __init__(self, net: Any, settings: SpecialistSettings, share: float) -> None:
        import torch

        self.net, self.settings = net, settings
        self.optimiser = torch.optim.AdamW(
            net.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimiser, settings.epochs)
        self.share = share

    def epoch(self, rows: Sampled, yes: Bools, train: NDArray[np.intp], rng: np.random.Generator) -> float:
        """Train on the rows in a new order, several times if they are few; return the mean loss."""
        import torch

        self.net.train()
        times = -(-self.settings.steps * self.settings.batch // len(train))
        order = np.concatenate([rng.permutation(train) for _ in range(max(1, times))])
        total = 0.0
        for at in range(0, len(order), self.settings.batch):
            picked = order[at : at + self.settings.batch]
            truth = torch.from_numpy(yes[picked].astype(np.float32))
            odds = self.net(torch.from_numpy(channels(varied(rows[picked], rng, self.settings))))
            # Both classes have half of the weight, whatever their numbers.
            weight = torch.where(truth > 0, 0.5 / self.share, 0.5 / (1 - self.share))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, truth, weight)
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            self.optimiser.step()
            total += float(loss.detach()) * len(picked)
        self.schedule.step()
        return total / len(order)


def _shifted(values: Float32, shifts: NDArray[np.int64]) -> Float32:
    """Shift each row by its number of pixels; pixels from beyond the end are 0."""
    moved = np.zeros_like(values)
    for row, by in enumerate(shifts):
        to = slice(max(by, 0), PIXELS + min(by, 0))
        moved[row, to] = values[row, max(-by, 0) : PIXELS + min(-by, 0)]
    return moved


def _loss(odds: NDArray[np.float64], yes: Bools) -> float:
    """Return the mean log loss of each class, then of both."""
    wrong = np.logaddexp(0, np.where(yes, -odds, odds))
    return 0.5 * float(wrong[yes].mean() + wrong[~yes].mean())


def _probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    p: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(odds, -60, 60)))
    return p


def _f1(predicted: Bools, yes: Bools) -> float:
    right = int((predicted & yes).sum())
    return 2 * right / max(int(predicted.sum() + yes.sum()), 1)
