"""The network: six convolutions, each halving the spectrum, then the mean and the largest answer of each
filter.

Group normalisation, because it is the same in training and in use and for a batch of one. About 147,000
numbers.
"""

from __future__ import annotations

from typing import Any

from training.specialist.grid import CHANNELS

_FILTERS = (16, 32, 48, 64, 96, 128)
_WIDTHS = (11, 9, 7, 7, 5, 5)  # pixels, odd
_GROUP = 8


def network(dropout: float) -> Any:
    """A ``torch.nn.Module`` from (batch, CHANNELS, PIXELS) to (batch,) log odds, as torch's generator has
    it.
    """
    from torch import nn

    class Network(nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            layers: list[Any] = []
            before = CHANNELS
            for filters, width in zip(_FILTERS, _WIDTHS, strict=True):
                layers += [
                    nn.Conv1d(before, filters, width, stride=2, padding=width // 2),
                    nn.GroupNorm(filters // _GROUP, filters),
                    nn.GELU(),
                ]
                before = filters
            self.body = nn.Sequential(*layers)
            self.head = nn.Sequential(
                nn.Dropout(dropout), nn.Linear(2 * before, 64), nn.GELU(), nn.Linear(64, 1)
            )

        def forward(self, rows: Any) -> Any:
            import torch

            seen = self.body(rows)
            return self.head(torch.cat([seen.mean(-1), seen.amax(-1)], dim=-1)).squeeze(-1)

    return Network()
