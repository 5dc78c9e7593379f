"""Results of a blind session simulated from a linear mixed model, without a database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

import numpy as np

from reviewer.blind.plan import AnalysisPlan, Gold, Plan
from reviewer.blind.results import Response, Results, ShownTrace
from reviewer.blind.rubric import rubric
from reviewer.blind.sheet import PreferenceAnswer, Question, ScoreAnswer

A, B = "model A", "model B"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def trace(item: int, source: str, spectrum: int | None, **other: object) -> ShownTrace:
    """A trace whose version is 100 more than its item."""
    values: dict[str, object] = {
        "item": item,
        "version": 100 + item,
        "source": source,
        "source_kind": "model",
        "task": "cv",
        "spectrum": None if spectrum is None else f"{spectrum:064x}",
        "simulated": False,
        "label": "YES",
        "verdict": "YES",
        "characters": 500,
        "survey": "LAMOST",
        "snr": 20.5,
    }
    return ShownTrace(**(values | other))  # type: ignore[arg-type]


def score(scorer: str, item: int, coherence: object, consistency: object, **other: object) -> Response:
    """A scored trace; its token is made of scorer, item and place."""
    answer = ScoreAnswer(coherence, consistency)  # type: ignore[arg-type]
    place = other.pop("place", item)
    values: dict[str, object] = {
        "token": f"{scorer}-{item}-{place}",
        "scorer": scorer,
        "kind": "scores",
        "place": place,
        "shown": (100 + item,),
        "repeat_of": None,
        "gold": None,
        "answer": answer,
        "at": START,
        "changes": 0,
        "first_answer": answer,
        "first_at": START,
    }
    return Response(**(values | other))  # type: ignore[arg-type]


def results(traces: Sequence[ShownTrace], responses: Sequence[Response], **plan: object) -> Results:
    """A closed session of these answers."""
    scorers = tuple(dict.fromkeys(response.scorer for response in responses))
    gold = tuple(dict.fromkeys(response.gold for response in responses if response.gold is not None))
    given = {"name": "simulated", "scorers": scorers, "sources": (A, B), "gold": gold, "each": len(scorers)} | plan
    return Results(
        session=1,
        plan=Plan(**given),  # type: ignore[arg-type]
        rubric=rubric(),
        questions={"cv": Question("CV", "Is it one?", "")},
        notes=(),
        drawn_by=None,
        drawn_at=START,
        opened_at=START,
        closed_at=START + timedelta(days=7),
        traces={trace.version: trace for trace in traces},
        responses=tuple(responses),
        judgements=(),
    )


def simulated(
    spectra: int = 30,
    scorers: int = 6,
    difference: float = 0.5,
    unable: float = 0.0,
    seed: int = 0,
    mode: str = "scores",
    **analysis: object,
) -> Results:
    """Scores of two sources on the same spectra by all scorers; standard deviations: spectrum 0.6, trace 0.5, scorer
    0.5, scorer by source 0.2, error 0.7. In pairs the trace with the higher value is chosen, near ones are equal.

    :param unable: share of "cannot tell"
    """
    rng = np.random.default_rng(seed)
    people = [f"P{n}" for n in range(scorers)]
    spectrum, person = rng.normal(0, 0.6, spectra), rng.normal(0, 0.5, scorers)
    taste, own = rng.normal(0, 0.2, (scorers, 2)), rng.normal(0, 0.5, (spectra, 2))
    traces = [trace(2 * s + a + 1, (A, B)[a], s) for s in range(spectra) for a in range(2)]
    responses, at = [], (START + timedelta(seconds=30 * n) for n in count())
    for p, name in enumerate(people):
        for place, (s, a) in enumerate(((s, a) for s in range(spectra) for a in range(2)), start=1):
            true = 3 + difference * (0.5 - a) + spectrum[s] + person[p] + taste[p, a] + own[s, a]
            given = [int(np.clip(round(true + rng.normal(0, 0.7)), 0, 5)) for _ in range(2)]
            answers = [one if rng.random() >= unable else "cannot tell" for one in given]
            when = next(at)
            responses.append(score(name, 2 * s + a + 1, *answers, place=place, at=when, first_at=when))
        for s in range(spectra) if mode == "both" else ():
            lead = difference + own[s, 0] - own[s, 1] + taste[p, 0] - taste[p, 1] + rng.normal(0, 1)
            left = s % 2
            better = "equal" if abs(lead) < 0.3 else "left" if (lead > 0) == (left == 0) else "right"
            answer, when = PreferenceAnswer(better), next(at)  # type: ignore[arg-type]
            shown = (101 + 2 * s + left, 101 + 2 * s + 1 - left)
            pair = f"{name}-pair-{s}"
            place = 2 * spectra + s + 1
            responses.append(Response(pair, name, "pair", place, shown, None, None, answer, when, 0, answer, when))
    return results(traces, responses, mode=mode, analysis=AnalysisPlan(**analysis))  # type: ignore[arg-type]


def gold(item: int, expected: int, tolerance: int = 1) -> Gold:
    return Gold(item, expected, expected, tolerance)
