"""The parts of a report in words: what was scored, the method with the analysis plan, the settings of model judges, and
the questions to scorers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from agent.statistics import DEFAULT
from reviewer.blind.analysis import primary_sources
from reviewer.blind.fingerprints import Fingerprints
from reviewer.blind.history import SessionHistory
from reviewer.blind.pictures import PICTURE_STATES, PictureState
from reviewer.blind.plan import ExposureRule, Kind, Plan, TextKind
from reviewer.blind.report.claims import TITLES
from reviewer.blind.report.judges import JudgeStatistics
from reviewer.blind.report.markup import many, table
from reviewer.blind.report.names import Names, counted_versions, sources
from reviewer.blind.results import Response, Results
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import CHANGEABLE, Question

_KINDS: dict[Kind, str] = {"scores": "traces to score", "pair": "pairs to compare"}


@dataclass(frozen=True)
class ReportData:
    """A closed session with the further facts that its report needs.

    :param barred: scorers (initials) and items of the session that they were not allowed to score
    :param pictures: how many pictures of each source were shown in which state
    :param fingerprints: how well a program tells the sources apart; None if that was not measured
    :param history: what preceded the session; None if that is not known
    :param analysis_sha256: of the stored plan; ``logged_sha256``: as it was logged when the session opened, None if it
        was not
    """

    results: Results
    names: Names
    barred: frozenset[tuple[str, int]]
    pictures: Mapping[str, Counter[PictureState]]
    fingerprints: Fingerprints | None = None
    history: SessionHistory | None = None
    analysis_sha256: str = ""
    logged_sha256: str | None = None


def version_sentence(results: Results) -> str:
    """Return which version of the texts was scored, and of a session from before versions were told apart how many
    traces people had edited.
    """
    texts = Counter(trace.text for trace in results.traces.values())
    match results.plan.version:
        case "drafted":
            return "Version: as drafted. Every trace is the first text of its item, exactly as its drafter wrote it."
        case "approved":
            return (
                f"Version: as approved. Of {many(len(results.traces), 'trace')}, people had revised {texts['revised']} "
                f"and approved {texts['unchanged']} as drafted; these are different sources."
            )
        case "both":
            return (
                "Version: both, as two sources. Each item that is compared has two traces: the draft, exactly as its "
                "drafter wrote it, and the text that people approved after they had revised it."
            )
    before = (
        "This session was made before drafted and edited texts were told apart: each trace was shown in its text of "
        "that day, under its drafter's name"
    )
    if not texts["current, edited"]:
        return f"{before}. None of the {many(len(results.traces), 'trace')} had been edited by a person."
    return (
        f"{before}, although people had edited {texts['current, edited']} of the {many(len(results.traces), 'trace')} "
        "(training and gold items included)."
    )


TEXTS: Mapping[TextKind, str] = {
    "drafted": "as drafted",
    "revised": "approved, revised by people",
    "unchanged": "approved as drafted",
}


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
        edited = sum(trace.text == "current, edited" for trace in own)
        texts = TEXTS.get(own[0].text, f"{edited} of {len(own)} edited by people")
        rows.append([source, kinds, texts, *map(str, numbers)])
    head = [
        "source",
        "drafter",
        "text",
        *(f"{task} traces" for task in tasks),
        "all traces",
        "simulated",
        "label known",
    ]
    simulated = sum(trace.simulated for trace in traces)
    share = f"{100 * simulated / len(traces):.0f} %" if traces else "none"
    text = (
        f"{len(traces)} traces of {len({trace.spectrum for trace in traces if trace.spectrum})} spectra, "
        f"{simulated} of them ({share}) of simulated spectra. The sources are named here and were named to "
        "no scorer before the session closed. Gold items are not among them."
    )
    return f"<p>{escape(version_sentence(results))}</p><p>{escape(text)}</p>{table(head, rows)}"


def method(material: ReportData) -> str:
    """Return the design in sentences, the analysis plan, and the progress of each scorer."""
    results, plan = material.results, material.results.plan
    mode_in_words = {"scores": "scored", "pairs": "compared in pairs", "both": "scored, then compared in pairs"}
    sentences = [
        f"Traces were {mode_in_words[plan.mode]}. {_sampling(plan)}",
        f"{_assignment(plan)}, with about the same number for each scorer, and never to a person who had drafted, "
        f"revised, marked or judged the trace in review. {_EARLIER[plan.earlier]}",
        "Each scorer had an order of their own, sampled with the seed.",
        *([_coin(material)] if "pair" in plan.kinds else []),
        *([_training(plan)] if plan.training else []),
        _blindness(material),
        f"Versions and spectra were fixed on {results.drawn_at:%Y-%m-%d}, the rubric (version "
        f"{results.rubric.version}, below) and the analysis plan on {results.opened_at:%Y-%m-%d}. Nobody saw "
        "another's answers before the session closed.",
        f"Scorers answered in order. They could change only their latest answers, at most {CHANGEABLE} before the "
        "present place; the last answer to a question counts.",
        "Scorers are called S1, S2, … in a random order that does not follow from anything published, items by their "
        "number within the session.",
        "Means and differences of sources are of a linear mixed model with spectra, traces, scorers and scorers by "
        "source as random effects.",
        "The section Definitions has, for every number, how it is calculated, its unit, and for which spectra and "
        f"scorers its interval holds. Intervals that resample do so {DEFAULT.resamples} times (seed {DEFAULT.seed}), "
        f"with percentiles at {100 * DEFAULT.confidence:.0f} %. Where there is no value or no interval, the reason "
        "is given.",
    ]
    list_ = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{list_}</ul>{_analysis_plan(material)}<h3>Answers</h3>{_progress(material)}"


_EARLIER: dict[ExposureRule, str] = {
    "declare": "A scorer could get a trace again that they had seen in an earlier session; see Exclusions.",
    "bar": "No scorer got a trace that they had seen in an earlier session.",
}


_FILTERS = {
    "states": "items in the state",
    "survey": "survey",
    "snr_min": "S/N at least",
    "snr_max": "S/N at most",
    "batch": "batch",
}


def _sampling(plan: Plan) -> str:
    """Return how the traces were selected, in sentences."""
    if plan.items:
        return f"The {many(len(plan.items), 'item')} were named by the coordinator."
    strata = ["task", *plan.strata]
    filters = [
        f"{words} {_and(list(map(str, value))) if isinstance(value, list | tuple) else value}"
        for name, words in _FILTERS.items()
        if (value := plan.to_json()["filter"][name]) not in (None, (), [], False)
    ]
    filters += ["no simulated spectra"] if plan.filter.simulated is False else []
    filters += [f"a list of {many(plan.filter.listed_items, 'item')}"] if plan.filter.listed_items else []
    filtered = f" Only: {', '.join(filters)}." if filters else ""
    if plan.design == "same spectra":
        number = "as many as there are" if plan.number is None else f"{plan.number} per stratum"
        return (
            f"Spectra were sampled with seed {plan.seed}, stratified by {_and(strata)}, {number}, and every "
            f"source's trace of each was taken: the sources are compared on the same spectra.{filtered}"
        )
    number = "as many as there are, the same number of each" if plan.number is None else f"{plan.number} per stratum"
    return (
        f"The traces of each source were sampled with seed {plan.seed}, stratified by {_and(['source', *strata])}, "
        f"{number}: the sources may have different spectra.{filtered}"
    )


def _assignment(plan: Plan) -> str:
    """Return the beginning of a sentence: which traces were shown to how many scorers."""
    scorers = f"{plan.each} of {many(len(plan.scorers), 'scorer')}"
    if plan.design == "same spectra":
        return f"All traces of a spectrum were shown to the same {scorers} (unless one was barred from some of them)"
    return f"Each trace was shown to {scorers}"


def _training(plan: Plan) -> str:
    return (
        f"Each scorer began with the same {many(len(plan.training), 'training item')}, in the same order; they are "
        "in no result."
    )


def _blindness(material: ReportData) -> str:
    """Return what scorers saw, with what may have revealed a source."""
    traces = material.results.traces.values()
    revealing = sum(trace.reveals for trace in traces)
    states = sum(material.pictures.values(), Counter[PictureState]())
    drawn, replaced, unchanged = (states[state] for state in PICTURE_STATES)
    return (
        "Scorers saw steps, windows, pictures and spectrum under random names; the page named no source, model, label, "
        f"file or time. Texts were shown word for word: {revealing} of {many(len(traces), 'trace')} (training and gold "
        f"items included) have words that may reveal their author. Of {many(states.total(), 'picture')}, {drawn} were "
        f"drawn anew from the spectrum, in {replaced} the title was replaced, and {unchanged} were shown unchanged, "
        "with the title that they had."
    )


def _analysis_plan(material: ReportData) -> str:
    """Return the analysis plan as a table."""
    results, plan = material.results, material.results.plan.analysis
    compared = primary_sources(results)
    both = "fewer than two sources" if compared is None else f"{compared[0]} less {compared[1]}"
    if compared is not None and "scores" not in results.plan.kinds:
        both = f"preference for {compared[0]} over {compared[1]}"
    what = f"{TITLES[plan.dimension].lower()}: {both}" if "scores" in results.plan.kinds else both
    default = "" if plan.first is not None or compared is None else " (the first two sources, as the plan names none)"
    margin = "none, so equivalence is not tested" if plan.margin is None else f"{plan.margin:g} points"
    rules = [
        f"a scorer is excluded with less than {100 * least:.0f} % of {words}"
        for least, words in (
            (plan.gold_within, "their scores of gold items within the tolerance"),
            (plan.repeats_within_1, "their repeated scores at most 1 from the first"),
        )
        if least is not None
    ]
    if plan.without_revealing:
        rules.append("traces that reveal their author are excluded")
    rows = [
        ["primary comparison", f"{what}{default}"],
        ["margin", margin],
        ["exclusions from the primary analysis", "; ".join(rules) or "none"],
        ["end of the session", material.names.anonymous(plan.stopping)],
    ]
    return (
        f"<h3>Analysis plan, frozen on {results.opened_at:%Y-%m-%d}</h3>"
        f"<p>{_hash(material)} Everything that is not the primary comparison is exploratory.</p>"
        f"{table(['part', 'plan'], rows)}"
    )


def _hash(material: ReportData) -> str:
    """Return the hash of the analysis plan in a sentence, and whether it is the one that was logged."""
    if material.logged_sha256 is None:
        return f"SHA-256 {material.analysis_sha256}; none was logged when the session opened."
    if material.logged_sha256 != material.analysis_sha256:
        return (
            f"SHA-256 {material.analysis_sha256}. When the session opened, {material.logged_sha256} was logged: the "
            "plan, or the version of the analysis, is not the one of that day."
        )
    return f"SHA-256 {material.analysis_sha256}, logged when the session opened."


def judge_settings(judges: Sequence[JudgeStatistics]) -> str:
    """Return what each judge saw and how its answers were sampled: a row per setting and a column per judge."""
    columns = [_settings(judge) for judge in judges]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [[name, *(column[name] for column in columns)] for name in names]
    return (
        f"{table(['setting', *(judge.judge for judge in judges)], rows, 'Settings, as each judgement recorded them')}"
        '<p class="faint">A judge that sees neither pictures nor measured values judges the text alone. Reasoning is '
        "kept separately from the verdict. Training items, repeats and gold items are not judged.</p>"
    )


def _settings(statistics: JudgeStatistics) -> dict[str, str]:
    """Return a judge's settings by name; several values where its judgements differ."""

    def values(name: str, of: Callable[[Any], object] = str) -> list[object]:
        return [of(value) for value in statistics.setup.get(name, ())]

    named = {
        "sees": values("sees"),
        "model requested": values("model"),
        "model served": [name for name in values("model_says") if name],
        "temperature": values("temperature", "{:g}".format),
        "top-p": values("top_p", "{:g}".format),
        "seed of the first sample": values("seed"),
        "tokens of an answer, at most": values("max_tokens"),
        "samples per question": values("samples"),
        "dimensions": values("dimensions", lambda names: _and([TITLES[name].lower() for name in names])),
        "requests": values("separately", lambda apart: "one per dimension" if apart else "one for all dimensions"),
        "reasoning": values("reasoning", lambda how: "as the server has it" if how == "server" else how),
        "system text": values("system"),
        "instructions in the message of": values("instructions_in", lambda of: "the user" if of == "user" else of),
        "arguments of the chat template": values("chat_template_kwargs"),
        "JSON schema": values("json_schema"),
        "left out by the server": values("left_out", ", ".join),
        "preset": values("preset"),
        "version of our prompt": values("prompt_version"),
    }
    words = {
        name: " and ".join(str(part) if part != "" else "none" for part in parts) or "not recorded"
        for name, parts in named.items()
    }
    unable = {
        f"“cannot tell”, {TITLES[dimension].lower()}": str(sum(scores.unable.values()))
        for dimension, scores in statistics.scores.items()
    }
    counts = {
        "judgements": statistics.judgements,
        "unreadable answers": statistics.unread,
        "with reasoning": statistics.with_reasoning,
    }
    return words | {name: str(number) for name, number in counts.items()} | unable


def rubric_text(rubric: Rubric, questions: Mapping[str, Question]) -> str:
    """Return all questions to the scorers, in full."""
    html = [f"<p>{escape(rubric.note)}</p>"]
    for scale in rubric.scales:
        html.append(f"<h3>{escape(scale.title)}</h3><p>{escape(scale.question)}</p>")
        html.append(
            table(
                ["score", "words", "origin of the words", "meaning (ours)"],
                [
                    [
                        str(anchor.score),
                        anchor.short,
                        "published, quoted second-hand" if anchor.published else "ours",
                        anchor.text,
                    ]
                    for anchor in scale.anchors
                ],
            )
        )
    unable = rubric.cannot_tell
    html.append(f"<p><b>{escape(unable.short)}</b>: {escape(unable.text)}</p>")
    html.append(f"<h3>Pairs</h3><p>{escape(rubric.preference_question)}</p>")
    html.append(table(["answer", "meaning"], [[choice.short, choice.text] for choice in rubric.choices]))
    for key, question in sorted(questions.items()):
        text = question.question.replace("**", "")  # bold in a prompt, asterisks here
        html.append(f"<h3>The question of {escape(question.title or key)}</h3><p>{escape(text)}</p>")
    return "\n".join(html)


def _coin(material: ReportData) -> str:
    results = material.results
    arms = sources(results)
    left = Counter(results.traces[response.shown[0]].source for response in results.first("pair"))
    counts = ", ".join(f"{source} {left[source]}" for source in arms)
    return (
        "Pairs are two traces of one spectrum and task. Left and right were assigned at random in equal numbers; "
        f"times on the left: {counts}."
    )


def _progress(material: ReportData) -> str:
    results, names = material.results, material.names
    rows = []
    for initials, called in names.scorers.items():
        own = [response for response in results.responses if response.scorer == initials]
        rows.append([called, *(f"{_answered(own, kind)}" for kind in results.plan.kinds)])
    head = ["scorer", *(f"{_KINDS[kind]}: answered" for kind in results.plan.kinds)]
    return table(head, rows)


def _answered(own: Sequence[Response], kind: Kind) -> str:
    responses = [response for response in own if response.kind == kind]
    repeats = sum(response.repeat_of is not None for response in responses)
    gold = sum(response.gold is not None for response in responses)
    training = sum(response.training for response in responses)
    also = [f"{n} {what}" for n, what in ((repeats, "repeats"), (gold, "gold"), (training, "training")) if n]
    more = f" ({', '.join(also)} among them)" if also else ""
    return f"{sum(response.answer is not None for response in responses)} of {len(responses)}{more}"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
