"""All numbers of a report in one order, and their table; the answers of model judges; ``session.json``.
No file contains a name of a person.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent.text import CsvTable
from reviewer.agreement.preference import Preference
from reviewer.agreement.values import Estimate
from reviewer.blind.plan import SESSION_FORMAT, Dimension
from reviewer.blind.report.claims import Claims, all_claims
from reviewer.blind.report.judge_agreement import JudgesTogether, judges_together
from reviewer.blind.report.judges import JudgeStatistics, judge_statistics
from reviewer.blind.report.model import p_value, population
from reviewer.blind.report.scores import DimensionStatistics, score_statistics
from reviewer.blind.report.statistics import Names, PairStatistics, pair_statistics
from reviewer.blind.results import JudgeScore, Results, ShownTrace
from reviewer.blind.sheet import PreferenceAnswer

ALL_TRACES, ALL_SCORERS = "all traces", "all scorers"
PERSON, MEAN_JUDGE = "one person, with the others", "mean of the judges"


@dataclass(frozen=True)
class Row:
    """One number of a report, with its subject.

    :param section: the part of the report it stands in, a key of ``page.CAPTIONS``
    :param of: a source, two sources, a scorer, two scorers, a judge, ``ALL_TRACES`` or ``ALL_SCORERS``
    :param dimension: ``coherence``, ``consistency`` or empty
    :param adjusted: p value adjusted for the number of comparisons
    :param claim: what may be claimed from it
    """

    section: str
    of: str
    dimension: str
    statistic: str
    estimate: Estimate
    adjusted: float | None = None
    claim: str = ""


@dataclass(frozen=True)
class Statistics:
    """All statistics of a session."""

    claims: Claims
    scores: tuple[DimensionStatistics, ...]
    pairs: PairStatistics | None
    judges: tuple[JudgeStatistics, ...]
    together: Mapping[Dimension, JudgesTogether]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return (
            *_claim_rows(self.claims),
            *(row for one in self.scores for row in _dimension_rows(one)),
            *(() if self.pairs is None else _pair_rows(self.pairs)),
            *(row for one in self.judges for row in _judge_rows(one)),
            *(row for dimension, one in self.together.items() for row in _together_rows(dimension, one)),
        )


def all_statistics(results: Results, names: Names) -> Statistics:
    """Calculate every statistic of a session."""
    return Statistics(
        all_claims(results, names),
        score_statistics(results, names),
        pair_statistics(results, names),
        judge_statistics(results),
        judges_together(results),
    )


def _claim_rows(found: Claims) -> Iterator[Row]:
    primary = found.primary
    if primary is not None:
        for one in found.analyses:
            yield Row("primary", primary.pair, primary.dimension or "", one.name, one.estimate, None, one.claim)
    for other in found.others:
        statistic = "preferred, of decided" if other.dimension is None else "difference"
        dimension = other.dimension or ""
        yield Row("comparisons", other.pair, dimension, statistic, other.estimate, other.adjusted, other.claim)


def _dimension_rows(found: DimensionStatistics) -> Iterator[Row]:
    of = found.dimension
    for source, one in found.distributions.items():
        yield Row("scores", source, of, "mean", found.means[source].new_scorers)
        yield Row("scores", source, of, "mean, these scorers", found.means[source].these_scorers)
        yield Row("scores", source, of, "mean of all scores", one.mean)
        yield Row("scores", source, of, "median", one.median)
    for (source, task), mean in found.by_task.items():
        yield Row("tasks", f"{source}, {task}", of, "mean", mean)
    for (source, survey), mean in found.by_survey.items():
        yield Row("surveys", f"{source}, {survey or 'no survey'}", of, "mean", mean)
    for apart in found.differences:
        both = f"{apart.first} less {apart.second}"
        yield Row("differences", both, of, "difference", apart.difference.new_scorers)
        yield Row("differences", both, of, "difference, these scorers", apart.difference.these_scorers)
        for scorer, own in apart.by_scorer.items():
            yield Row("by scorer", scorer, of, both, own)
    for name, spread in found.spread.items():
        yield Row("spread", name, of, "standard deviation", spread)
    for part, alike in found.agreement.items():
        yield Row("agreement", part or ALL_TRACES, of, "Krippendorff's alpha", alike.alpha)
        yield Row("agreement", part or ALL_TRACES, of, "ICC(A,1)", alike.icc_a1)
        yield Row("agreement", part or ALL_TRACES, of, "ICC(A,k)", alike.icc_ak)
    for two in found.pairs:
        who = f"{two.a} and {two.b}"
        yield Row("two scorers", who, of, "weighted kappa", two.kappa)
        yield Row("two scorers", who, of, "raw agreement", two.raw)
        yield Row("two scorers", who, of, "Spearman", two.spearman)
    yield from _scorer_rows(found)
    for part, by in found.correctness.items():
        yield Row("correctness", part or ALL_TRACES, of, "mean, correct verdict", by.correct)
        yield Row("correctness", part or ALL_TRACES, of, "mean, incorrect verdict", by.incorrect)
        yield Row("correctness", part or ALL_TRACES, of, "difference", by.difference)
        yield Row("correctness", part or ALL_TRACES, of, "AUC", by.auc)


def _scorer_rows(found: DimensionStatistics) -> Iterator[Row]:
    of = found.dimension
    for scorer, severe in found.severity.items():
        yield Row("severity", scorer, of, "severity", severe)
    for what, effects in (("drift", found.order.slopes), ("second trace", found.order.second)):
        for scorer, effect in effects.items():
            yield Row("order", scorer or ALL_SCORERS, of, what, effect)
    if found.repeats is not None:
        yield Row("repeats", ALL_SCORERS, of, "Krippendorff's alpha, intra-rater", found.repeats.alpha)
        yield Row("repeats", ALL_SCORERS, of, "mean difference", found.repeats.difference)
        yield Row("repeats", ALL_SCORERS, of, "the same score", found.repeats.exact)
        yield Row("repeats", ALL_SCORERS, of, "within 1", found.repeats.within_1)
    for scorer, self in found.consistency.items():
        yield Row("repeats", scorer, of, "mean difference", self.difference)
        yield Row("repeats", scorer, of, "the same score", self.exact)
        yield Row("repeats", scorer, of, "within 1", self.within_1)
        yield Row("repeats", scorer, of, "weighted kappa", self.kappa)
    for scorer, gold in found.gold.items():
        yield Row("gold", scorer, of, "bias", gold.bias)
        yield Row("gold", scorer, of, "within the tolerance", gold.within)


def _pair_rows(found: PairStatistics) -> Iterator[Row]:
    yield from _rate_rows(found.rates, "preference", "")
    for survey, rates in found.by_survey.items():
        yield from _rate_rows(rates, "preference by survey", survey or "no survey")
    for source, strength in found.strengths.sources.items():
        yield Row("strength", source, "", "Davidson strength", strength)
    yield Row("pair agreement", "all pairs", "", "raw agreement", found.agreement.raw)
    yield Row("pair agreement", "all pairs", "", "Krippendorff's alpha", found.agreement.alpha)
    for scorer, same in found.again.items():
        yield Row("pair repeats", scorer or ALL_SCORERS, "", "the same answer", same)
    yield Row("bias", "all pairs", "", "left chosen", found.position)
    yield Row("bias", "all pairs", "", "longer chosen", found.length)


def _rate_rows(rates: Iterable[Preference], section: str, of_what: str) -> Iterator[Row]:
    for one in rates:
        of = f"{of_what}: {one.source} over {one.other}" if of_what else f"{one.source} over {one.other}"
        yield Row(section, of, "", "preferred, of decided", one.preferred)
        yield Row(section, of, "", "first better", one.wins)
        yield Row(section, of, "", "second better", one.losses)
        yield Row(section, of, "", "equal", one.equal)
        yield Row(section, of, "", "both bad", one.both_bad)


def _judge_rows(found: JudgeStatistics) -> Iterator[Row]:
    for dimension, one in found.scores.items():
        yield Row("judges", found.judge, dimension, "rank correlation with people", one.correlation)
        yield Row("judges", found.judge, dimension, "judge less people", one.above)
        if one.retest is not None:
            yield Row("judges", found.judge, dimension, "alpha of its samples", one.retest)
        for source, given in one.distributions.items():
            yield Row("judge means", f"{found.judge}: {source}", dimension, "mean", given.mean)
            yield Row(
                "judge means", f"{found.judge}: {source}", dimension, "judge less people", one.above_by_source[source]
            )
        for two in one.contrasts:
            of = f"{found.judge}: {two.first} less {two.second}"
            yield Row("self-preference", of, dimension, "difference of judge less people", two.difference)
    if found.pairs is not None:
        yield from _rate_rows(found.pairs.rates, "judge preference", found.judge)
        yield Row("judge bias", found.judge, "", "flip rate", found.pairs.flips)
        yield Row("judge bias", found.judge, "", "left chosen", found.pairs.position)
        yield Row("judge bias", found.judge, "", "longer chosen", found.pairs.length)
        yield Row("judge bias", found.judge, "", "as most people", found.pairs.majority)


def _together_rows(dimension: Dimension, found: JudgesTogether) -> Iterator[Row]:
    yield Row("judges", PERSON, dimension, "rank correlation with people", found.ceiling)
    if found.mean is not None:
        yield Row("judges", MEAN_JUDGE, dimension, "rank correlation with people", found.mean)
    for two in found.pairs:
        yield Row("two judges", f"{two.a} and {two.b}", dimension, "Spearman", two.spearman)


def statistics_csv(rows: Iterable[Row]) -> str:
    """Return every number of the report; an empty value has its reason in words."""
    head = (
        "section",
        "of",
        "dimension",
        "statistic",
        "value",
        "low",
        "high",
        "n",
        "n_of",
        "population",
        "p",
        "p_adjusted",
        "claim",
        "reason",
        "definition",
        "detail",
    )
    return to_csv(
        head,
        (
            (
                *(one.section, one.of, one.dimension, one.statistic),
                *(e.value, e.low, e.high, e.n, e.n_of, population(e), p_value(e), one.adjusted, one.claim),
                *(e.reason, e.definition),
                json.dumps(dict(e.detail), ensure_ascii=False, allow_nan=False),
            )
            for one in rows
            for e in (one.estimate,)
        ),
    )


def judgements_csv(results: Results, names: Names) -> str:
    """Return the judgements of model judges, reasoning separate from the verdict."""
    rows = []
    for one in results.judgements:
        items = [names.items[results.traces[version].item] for version in one.shown]
        score = one.answer if isinstance(one.answer, JudgeScore) else None
        side = one.answer.preference if isinstance(one.answer, PreferenceAnswer) else None
        comment = one.answer.comment if one.answer else None
        rows.append(
            (
                *(one.judge, items[0], items[1] if len(items) > 1 else None),
                *((score.coherence, score.consistency) if score else (None, None)),
                *(
                    side,
                    comment,
                    one.reasoning,
                    json.dumps(one.replies),
                    json.dumps(one.settings, sort_keys=True),
                ),
            )
        )
    head = ("judge", "item", "right_item", "coherence", "consistency", "preference", "comment")
    return to_csv((*head, "reasoning", "said", "settings"), rows)


def spectrum_numbers(results: Results) -> dict[str, int]:
    """Return the number of each spectrum within the session by its SHA-256, in the order of the items."""
    traces = sorted(results.traces.values(), key=lambda trace: trace.item)
    shown = dict.fromkeys(trace.spectrum for trace in traces if trace.spectrum is not None)
    return {sha256: number for number, sha256 in enumerate(shown, start=1)}


def session_json(
    results: Results, names: Names, content_hashes: Mapping[int, str], analysis_sha256: str | None = None
) -> str:
    """Return the plan, the exact items, the orders and sides, and the rubric.

    :param content_hashes: of each version that was shown
    :param analysis_sha256: of the analysis plan
    """
    spectra = spectrum_numbers(results)
    by_version = {version: names.items[trace.item] for version, trace in results.traces.items()}
    place_of = {one.token: one.place for one in results.responses}
    data = {
        "format": SESSION_FORMAT,
        "session": results.session,
        "plan": _plan(results, names),
        "analysis_sha256": analysis_sha256,
        "drawn_at": results.drawn_at.isoformat(),
        "opened_at": results.opened_at.isoformat(),
        "closed_at": results.closed_at.isoformat(),
        "notes": [names.note(note) for note in results.notes],
        "items": [
            _item(names, one, content_hashes[one.version], spectra)
            for one in sorted(results.traces.values(), key=lambda trace: trace.item)
        ],
        "orders": {
            called: [
                {
                    "place": one.place,
                    "kind": one.kind,
                    "items": [by_version[version] for version in one.shown],
                    "repeat_of": None if one.repeat_of is None else place_of[one.repeat_of],
                    "gold": one.gold is not None,
                    "training": one.training,
                }
                for one in results.responses
                if one.scorer == initials
            ]
            for initials, called in names.scorers.items()
        },
        "rubric": results.rubric.to_json(),
        "questions": {
            task: {"title": question.title, "question": question.question, "guide": question.guide}
            for task, question in sorted(results.questions.items())
        },
    }
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plan(results: Results, names: Names) -> dict[str, Any]:
    """Return the plan with scorers by their new names and items by their number within the session."""
    plan = results.plan.to_json()
    plan["name"] = names.anonymous(plan["name"])
    plan["filter"]["batch"] = plan["filter"]["batch"] and names.anonymous(plan["filter"]["batch"])
    plan["scorers"] = list(names.scorers.values())
    # An item of the plan that was shown to nobody has no number here.
    plan["items"] = [names.items[item] for item in results.plan.items if item in names.items]
    plan["gold"] = [{**gold, "item": names.items[gold["item"]]} for gold in plan["gold"] if gold["item"] in names.items]
    plan["training"] = [names.items[item] for item in results.plan.training if item in names.items]
    plan["analysis"]["stopping"] = names.anonymous(plan["analysis"]["stopping"])
    return plan


def _item(names: Names, trace: ShownTrace, content_hash: str, spectra: Mapping[str, int]) -> dict[str, Any]:
    return {
        "item": names.items[trace.item],
        "content_hash": content_hash,
        "spectrum": None if trace.spectrum is None else spectra[trace.spectrum],
        "spectrum_sha256": trace.spectrum,
        "source": trace.source,
        "source_kind": trace.source_kind,
        "task": trace.task,
        "survey": trace.survey,
        "snr": trace.snr,
        "simulated": trace.simulated,
        "label": trace.label,
        "verdict": trace.verdict,
        "characters": trace.characters,
        "reveals": trace.reveals,
    }


def to_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    table = CsvTable(written, head)
    for row in rows:
        table.row(row)
    return written.getvalue()
