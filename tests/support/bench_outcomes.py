"""Outcomes and questions of a bench, made up for tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from training.bench.outcomes import Outcome

VERDICTS = {"+": "YES", "-": "NO", "?": None}


def outcomes(truth: str, said: str, task: str = "cv", **given) -> list[Outcome]:
    """One outcome a character: ``truth`` of + and -, ``said`` of +, - and ? (neither)."""
    return [
        Outcome(
            **{
                "key": f"test_{task}.parquet#{number:04d}",
                "source": f"star-{number:04d}.fits",
                "task": task,
                "label": VERDICTS[true],
                "predicted": VERDICTS[word],
                "answered": VERDICTS[word],
                "format_ok": True,
                "calls": 2,
                **given,
            }
        )
        for number, (true, word) in enumerate(zip(truth, said, strict=True))
    ]


def under(name: str, some: Iterable[Outcome]) -> list[Outcome]:
    """The same of other spectra: their sources begin with ``name``."""
    return [replace(one, key=f"{name} {one.key}", source=f"{name}-{one.source}") for one in some]
