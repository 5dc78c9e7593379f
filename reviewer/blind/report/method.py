"""The parts of a report in words: what was scored, the method, what was left out, and the questions to scorers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from agent.statistics import DEFAULT
from reviewer.blind.plan import CANNOT_TELL, Kind
from reviewer.blind.report.statistics import Names, counted_versions, sources
from reviewer.blind.results import Response, Results
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import Question, ScoreAnswer

_KINDS: dict[Kind, str] = {"scores": "traces to score", "pair": "pairs to compare"}


class LeakFound(Protocol):
    """A leak in a trace; the store's ``LeakFound`` is one."""

    @property
    def item(self) -> int: ...

    @property
    def source(self) -> str: ...


@dataclass(frozen=True)
class ReportData:
    """A closed session with the further facts that its report needs.

    :param barred: scorers (initials) and items of the session that they were not allowed to score
    :param leaks: the leaks in its traces
    """

    results: Results
    names: Names
    barred: frozenset[tuple[str, int]]
    leaks: Sequence[LeakFound]


def scored_traces(material: ReportData) -> str:
    """Return the sources by name, with the number of traces per task and how many are simulated."""
    results = material.results
    traces = [results.traces[version] for version in counted_versions(results)]
    tasks = sorted({trace.task for trace in traces})
    rows = []
    for source in sources(results):
        own = [trace for trace in traces if trace.source == source]
        by_task = Counter(trace.task for trace in own)
        kinds = ", ".join(sorted({trace.source_kind for trace in own}))
        labelled = sum(trace.label is not None for trace in own)
        simulated = sum(trace.simulated for trace in own)
        numbers = [*(by_task[task] for task in tasks), len(own), simulated, labelled]
        rows.append([source, kinds, *map(str, numbers)])
    head = ["source", "kind", *(f"{task} traces" for task in tasks), "all traces", "simulated", "label known"]
    simulated = sum(trace.simulated for trace in traces)
    share = f"{100 * simulated / len(traces):.0f} %" if traces else "none"
    text = (
        f"{len(traces)} traces of {len({trace.spectrum for trace in traces if trace.spectrum})} spectra, "
        f"{simulated} of them ({share}) of simulated spectra. The sources are named here and were named to "
        "no scorer before the session closed. Gold items are not among them."
    )
    return f"<p>{escape(text)}</p>{_table(head, rows)}"


def method(material: ReportData) -> str:
    """Return the design in sentences, and the progress of each scorer."""
    results, plan = material.results, material.results.plan
    mode_in_words = {"scores": "scored", "pairs": "compared in pairs", "both": "scored, then compared in pairs"}
    number = "as many of each as there are" if plan.number is None else f"{plan.number} of each"
    if plan.items:
        drawn = f"The {len(plan.items)} items were named by the coordinator"
    else:
        drawn = f"Sampled with seed {plan.seed}, stratified by source and task, {number}"
    kept = [f"{name} {value}" for name, value in plan.to_json()["filter"].items() if value not in (None, ())]
    sentences = [
        f"Traces were {mode_in_words[plan.mode]}. {drawn}{'; filter: ' + ', '.join(kept) if kept else ''}.",
        f"Each trace was shown to {plan.each} of {len(plan.scorers)} scorers, with about the same number for each "
        "scorer, and never to a person who had drafted, revised, marked or judged it in review.",
        "Each scorer had an order of their own, sampled with the seed. They saw steps, windows, pictures and "
        "spectrum under random names, but no source, model, label, file name or time.",
        f"Versions and spectra were fixed on {results.drawn_at:%Y-%m-%d}, the rubric (version "
        f"{results.rubric.version}, below) on {results.opened_at:%Y-%m-%d}. A scorer could change an answer "
        "until the session closed; the last one counts. Nobody saw another's answers before.",
        f"Scorers are called S1, S2, … in an order sampled with the seed ({plan.seed}), items by their number "
        "within the session.",
        f"Intervals are {100 * DEFAULT.confidence:.0f} % percentile bootstrap intervals, {DEFAULT.resamples} "
        f"resamples by item (seed {DEFAULT.seed}), unless a definition says otherwise. With fewer than "
        f"{DEFAULT.few} items there is none. Where there is no value, the reason is given.",
    ]
    if "pair" in plan.kinds:
        sentences.insert(3, _coin(material))
    list_ = "".join(f"<li>{escape(one)}</li>" for one in sentences)
    return f"<ul>{list_}</ul>{_progress(material)}"


def exclusions(material: ReportData) -> str:
    """Return what is not in the results, with reasons and numbers."""
    results = material.results
    firsts = [one for kind in results.plan.kinds for one in results.first(kind)]
    silent = sum(one.answer is None for one in firsts)
    repeats = sum(one.repeat_of is not None for one in results.responses)
    gold = results.gold()
    unable = {
        what: sum(getattr(one.answer, key) == CANNOT_TELL for one in firsts if isinstance(one.answer, ScoreAnswer))
        for key, what in (("coherence", "coherence"), ("consistency", "physical consistency"))
    }
    items = {one.shown[0] for one in gold}
    leaks = {one.item for one in material.leaks}
    rule = "excluded from the sample" if results.plan.giveaways == "leave out" else "included and flagged"
    rows = [
        ["scorers barred from a trace", len(material.barred), "they worked on it before it was sampled"],
        ["assignments without an answer", silent, f"of {len(firsts)}; they have no score"],
        ["repeated showings", repeats, "in self-consistency only"],
        ["showings of gold items", len(gold), f"{len(items)} gold items; in calibration only"],
        *([f"“cannot tell”, {what}", n, "an answer, but no score"] for what, n in unable.items()),
        ["traces that reveal their author", len(leaks), f"by the plan such traces are {rule}"],
        ["answers that were changed", sum(one.changes > 0 for one in results.responses), "the last one counts"],
    ]
    notes = "".join(f"<li>{escape(material.names.note(one))}</li>" for one in results.notes)
    notes_html = f"<h3>Notes of the sampling</h3><ul>{notes}</ul>" if notes else ""
    return _table(["what", "number", "treatment"], [list(map(str, row)) for row in rows]) + notes_html


def rubric_text(rubric: Rubric, questions: Mapping[str, Question]) -> str:
    """Return all questions to the scorers, in full."""
    html = [f"<p>{escape(rubric.note)}</p>"]
    for scale in rubric.scales:
        html.append(f"<h3>{escape(scale.title)}</h3><p>{escape(scale.question)}</p>")
        html.append(
            _table(
                ["score", "anchor", "meaning", ""],
                [
                    [str(one.score), one.short, one.text, "published" if one.published else "ours"]
                    for one in scale.anchors
                ],
            )
        )
    unable = rubric.cannot_tell
    html.append(f"<p><b>{escape(unable.short)}</b>: {escape(unable.text)}</p>")
    html.append(f"<h3>Pairs</h3><p>{escape(rubric.preference_question)}</p>")
    html.append(_table(["answer", "meaning"], [[one.short, one.text] for one in rubric.choices]))
    for key, question in sorted(questions.items()):
        text = question.question.replace("**", "")  # bold in a prompt, asterisks here
        html.append(f"<h3>The question of {escape(question.title or key)}</h3><p>{escape(text)}</p>")
    return "\n".join(html)


def _coin(material: ReportData) -> str:
    results = material.results
    arms = sources(results)
    left = Counter(results.traces[one.shown[0]].source for one in results.first("pair"))
    counts = ", ".join(f"{source} {left[source]}" for source in arms)
    return (
        "Pairs are two traces of one spectrum and task. Left and right were assigned at random in equal numbers; "
        f"times on the left: {counts}."
    )


def _progress(material: ReportData) -> str:
    results, names = material.results, material.names
    rows = []
    for initials, called in names.scorers.items():
        own = [one for one in results.responses if one.scorer == initials]
        rows.append([called, *(f"{_answered(own, kind)}" for kind in results.plan.kinds)])
    head = ["scorer", *(f"{_KINDS[kind]}: answered" for kind in results.plan.kinds)]
    return _table(head, rows)


def _answered(own: Sequence[Response], kind: Kind) -> str:
    responses = [one for one in own if one.kind == kind]
    repeats = sum(one.repeat_of is not None for one in responses)
    gold = sum(one.gold is not None for one in responses)
    also = [f"{n} {what}" for n, what in ((repeats, "repeats"), (gold, "gold")) if n]
    more = f" ({', '.join(also)} among them)" if also else ""
    return f"{sum(one.answer is not None for one in responses)} of {len(responses)}{more}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(one)}</td>" for one in more)}</tr>'
        for first, *more in rows
    )
    return f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
