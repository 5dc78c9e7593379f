"""The answers of people for R and pandas: one row per question to a scorer, the steps marked as wrong, and an R script
that repeats the primary analysis.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from agent.tables import cell
from reviewer.blind.analysis import primary_results, primary_sources
from reviewer.blind.plan import CANNOT_TELL, Dimension, Score
from reviewer.blind.report.names import Names
from reviewer.blind.report.tables import flag, spectrum_numbers, to_csv
from reviewer.blind.results import Response, Results
from reviewer.blind.sheet import PreferenceAnswer, ScoreAnswer

_ABOUT = ("session", "scorer", "kind", "place", "use", "repeat_of", "exposed", "excluded")
_SPECTRUM = ("spectrum", "task", "survey", "snr", "simulated")
_TRACE = ("item", "source", "version", "verdict", "label", "correct", "reveals")
_SCORES = (
    *("coherence", "consistency", "coherence_cannot_tell", "consistency_cannot_tell"),
    *("first_coherence", "first_consistency"),
)
_PAIR = (
    *("left_item", "left_source", "left_version", "right_item", "right_source", "right_version"),
    *("preference", "preferred_source", "first_preference"),
)
_TIMES = ("at", "first_at", "seconds", "changes")
COLUMNS = (*_ABOUT, *_SPECTRUM, *_TRACE, *_SCORES, *_PAIR, *_TIMES, "comment")
"""The columns of ``answers.csv``; docs/blind/report.md describes them."""


def answers_csv(results: Results, names: Names) -> str:
    """Return one row per question to a scorer, by scorer and place; columns of the other kind of question are empty."""
    spectra = spectrum_numbers(results)
    seconds = _seconds(results)
    places = {response.token: response.place for response in results.responses}
    primary = {response.token for response in primary_results(results).responses}
    rows = (
        (
            *(results.session, names.scorers[row.scorer], row.kind, row.place, use(row)),
            None if row.repeat_of is None else places[row.repeat_of],
            *(_flag(row.exposed), _flag(row.token not in primary)),
            *_of_spectrum(results, row, spectra),
            *(_of_scores(results, names, row) if row.kind == "scores" else _of_pair(results, names, row)),
            *(_time(row.at), _time(row.first_at), seconds.get(row.token), row.changes),
            names.anonymous(row.answer.comment) if row.answer else "",
        )
        for row in _in_order(results, names)
    )
    return to_csv(COLUMNS, rows)


def wrong_steps_csv(results: Results, names: Names) -> str:
    """Return one row per step that a scorer marked as wrong; steps count from 1."""
    rows = (
        (
            *(names.scorers[response.scorer], response.place, names.traces[trace.version], use(response)),
            *(trace.source, trace.task, int(step.removeprefix("s"))),
        )
        for response in _in_order(results, names)
        if isinstance(response.answer, ScoreAnswer)
        for trace in (results.traces[response.shown[0]],)
        for step in response.answer.wrong_steps
    )
    return to_csv(("scorer", "place", "item", "use", "source", "task", "step"), rows)


_SCRIPT = Path(__file__).with_name("analysis.R")


def analysis_script(results: Results) -> str | None:
    """Return the R script of the primary comparison, which reads ``answers.csv``; None with fewer than two sources."""
    sources = primary_sources(results)
    if sources is None:
        return None
    plan = results.plan.analysis
    first, second = (_r_text(cell(source)) for source in sources)
    settings = (
        f"# Primary comparison of blind scoring session {results.session}, from its analysis plan.",
        f'kind <- "{"scores" if "scores" in results.plan.kinds else "pair"}"',
        f'dimension <- "{plan.dimension}"',
        f"first <- {first}",
        f"second <- {second}",
        f"margin <- {'NA' if plan.margin is None else repr(float(plan.margin))}",
        f"without_revealing <- {'TRUE' if plan.without_revealing else 'FALSE'}  # the plan excludes revealing traces",
    )
    return "\n".join([*settings, "", _SCRIPT.read_text(encoding="utf-8")])


def _r_text(text: str) -> str:
    """Return a text as R writes it, in ASCII, so that it is read alike in every locale."""
    plain = (
        character
        if character.isascii() and character.isprintable() and character not in '"\\'
        else f"\\U{ord(character):08x}"
        for character in text
    )
    return f'"{"".join(plain)}"'


def use(response: Response) -> str:
    """Return what a question is for: ``training``, ``gold``, ``repeat``, or ``result``, which is all that counts."""
    if response.training:
        return "training"
    return "gold" if response.gold is not None else "repeat" if response.repeat_of is not None else "result"


def _in_order(results: Results, names: Names) -> list[Response]:
    # Not in the plan's order of scorers, which would reveal who is who.
    order = {initials: place for place, initials in enumerate(names.scorers)}
    return sorted(results.responses, key=lambda response: (order[response.scorer], response.place))


def _of_spectrum(results: Results, response: Response, spectra: Mapping[str, int]) -> tuple[object, ...]:
    trace = results.traces[response.shown[0]]
    number = None if trace.spectrum is None else spectra[trace.spectrum]
    return number, trace.task, trace.survey, trace.snr, _flag(trace.simulated)


def _of_scores(results: Results, names: Names, response: Response) -> tuple[object, ...]:
    trace = results.traces[response.shown[0]]
    latest = response.answer if isinstance(response.answer, ScoreAnswer) else None
    first = response.first_answer if isinstance(response.first_answer, ScoreAnswer) else None
    return (
        *(names.traces[trace.version], trace.source, trace.text, trace.verdict, trace.label, _flag(trace.correct)),
        _flag(trace.reveals),
        *(_number(latest, "coherence"), _number(latest, "consistency")),
        *(_unable(latest, "coherence"), _unable(latest, "consistency")),
        *(_number(first, "coherence"), _number(first, "consistency")),
        *(None for _ in _PAIR),
    )


def _of_pair(results: Results, names: Names, response: Response) -> tuple[object, ...]:
    left, right = (results.traces[version] for version in response.shown)
    latest = response.answer if isinstance(response.answer, PreferenceAnswer) else None
    first = response.first_answer if isinstance(response.first_answer, PreferenceAnswer) else None
    chosen = {"left": left.source, "right": right.source}.get(latest.preference) if latest else None
    return (
        *(None for _ in _TRACE[:-1]),
        _flag(left.reveals or right.reveals),
        *(None for _ in _SCORES),
        *(part for trace in (left, right) for part in (names.traces[trace.version], trace.source, trace.text)),
        *(latest.preference if latest else None, chosen, first.preference if first else None),
    )


def _seconds(results: Results) -> dict[str, float]:
    """Return by token the time between a scorer's first answer to it and their previous first answer, in seconds."""
    seconds: dict[str, float] = {}
    for scorer in results.plan.scorers:
        answered = [
            (response.first_at, response.place, response.token)
            for response in results.responses
            if response.scorer == scorer
        ]
        times = sorted((at, place, token) for at, place, token in answered if at is not None)
        for (before, _, _), (at, _, token) in pairwise(times):
            seconds[token] = (at - before).total_seconds()
    return seconds


def _score(answer: ScoreAnswer | None, dimension: Dimension) -> Score | None:
    if answer is None:
        return None
    return answer.coherence if dimension == "coherence" else answer.consistency


def _number(answer: ScoreAnswer | None, dimension: Dimension) -> int | None:
    score = _score(answer, dimension)
    return None if score == CANNOT_TELL or score is None else int(score)


def _unable(answer: ScoreAnswer | None, dimension: Dimension) -> str | None:
    return None if answer is None else _flag(_score(answer, dimension) == CANNOT_TELL)


def _flag(value: bool | None) -> str | None:
    return None if value is None else flag(value)


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="milliseconds")
