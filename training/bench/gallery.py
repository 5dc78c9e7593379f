"""The failures of a run as one self-contained HTML page: pictures, texts, answers, and the right answer."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template

from PIL import Image

from agent.batch.journal import pictures_of
from agent.batch.report import pictures, window_text
from agent.json_lines import write_atomic
from agent.spectrum import Spectrum
from agent.statistics import wilson
from agent.trajectory import Trajectory
from agent.trajectory.messages import data_url
from agent.trajectory.steps import Answer, Step, Think, Verdict, Zoom
from agent.trust.reliability import Bin
from training.bench.answers import FILE as ANSWERS
from training.bench.answers import Run
from training.bench.calibration import MEASURES
from training.bench.outcomes import Outcome
from training.bench.scores import plain
from training.bench.table import Row, p_yes
from training.data.records import Question

FILE = "gallery.html"
PER_KIND = 12
OPEN = 6
"""With at most so many cards none is folded."""
_PAGE = Path(__file__).with_name(FILE)

KINDS: Mapping[str, str] = {
    "false positive": "answered YES, the truth is NO",
    "false negative": "answered NO, the truth is YES",
    "no answer": "no YES or NO in the answer",
    "bad form": "not in the published form",
    "tool error": "a call that the tool answered with an error",
}
"""What can go wrong, in the order in which it is shown; a question may be of several kinds."""


def kinds(outcome: Outcome) -> tuple[str, ...]:
    """Return the kinds of failure of one outcome; empty if it is right."""
    is_kind = {
        "false positive": outcome.predicted == "YES" and outcome.label == "NO",
        "false negative": outcome.predicted == "NO" and outcome.label == "YES",
        "no answer": outcome.predicted is None,
        "bad form": outcome.format_ok is False,
        "tool error": outcome.errors > 0,
    }
    return tuple(kind for kind in KINDS if is_kind[kind])


def totals(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return the number of failures of each kind."""
    counts = dict.fromkeys(KINDS, 0)
    for outcome in outcomes:
        for kind in kinds(outcome):
            counts[kind] += 1
    return counts


def chosen(outcomes: Iterable[Outcome], most: int) -> list[Outcome]:
    """Select at most so many failures of each kind, the tasks in turn.

    Within a task, the highest signal-to-noise first: a mistake about a good spectrum is not the fault of the data.
    """
    failures = [outcome for outcome in outcomes if kinds(outcome)]
    taken: dict[tuple[str, str], Outcome] = {}
    for kind in KINDS:
        for failure in _in_turn([failure for failure in failures if kind in kinds(failure)])[:most]:
            taken[failure.task, failure.key] = failure
    return sorted(taken.values(), key=lambda outcome: (_place(outcome), outcome.task, _order(outcome)))


def _in_turn(failures: Sequence[Outcome]) -> list[Outcome]:
    by_task: dict[str, list[Outcome]] = defaultdict(list)
    for failure in sorted(failures, key=_order):
        by_task[failure.task].append(failure)
    ranked = [(rank, task, outcome) for task, several in by_task.items() for rank, outcome in enumerate(several)]
    return [outcome for _, _, outcome in sorted(ranked, key=lambda entry: entry[:2])]


def _order(outcome: Outcome) -> tuple[float, str]:
    return (-outcome.snr if outcome.snr is not None else float("inf"), outcome.key)


def _place(outcome: Outcome) -> int:
    return list(KINDS).index(kinds(outcome)[0])


SpectrumOf = Callable[[Outcome], Spectrum | None]
"""Returns the spectrum of a question; None if it is no longer available."""


def spectra_of(questions: Iterable[Question]) -> SpectrumOf:
    """Return a function that reads the spectra of these questions on demand."""
    known = {(question.task.key, question.key): question for question in questions}

    def spectrum_of(outcome: Outcome) -> Spectrum | None:
        question = known.get((outcome.task, outcome.key))
        try:
            return None if question is None else question.spectrum()
        except (OSError, ValueError):
            return None

    return spectrum_of


def write(run: Run, row: Row, spectrum_of: SpectrumOf, most: int = PER_KIND) -> int:
    """Write the gallery into the folder of the run; return the number of failures shown. Pictures are drawn again.

    :param most: of each kind
    :raises JournalError: it cannot be written
    """
    shown = {(outcome.task, outcome.key): outcome for outcome in chosen(row.outcomes, most)}
    traces = {
        (trace.task, trace.key): (trajectory, texts)
        for trace, trajectory, texts in run.traces()
        if (trace.task, trace.key) in shown and trace.sample == shown[trace.task, trace.key].sample
    }
    cards = []
    for place, outcome in shown.items():
        trajectory, texts = traces.get(place, (None, ()))
        cards.append(_card(outcome, trajectory, texts, spectrum_of, pictures_of(run.folder / ANSWERS)))
    write_atomic(run.folder / FILE, page(row, list(shown.values()), cards))
    return len(cards)


def page(row: Row, shown: Sequence[Outcome], cards: Sequence[str]) -> str:
    """Return the whole page."""
    counts = totals(row.outcomes)
    present = [kind for kind in KINDS if counts[kind]]
    shown_of = {kind: sum(kind in kinds(outcome) for outcome in shown) for kind in present}
    clauses = ", ".join(
        f"{_many(counts[kind], kind)}" + (f" ({shown_of[kind]} shown)" if shown_of[kind] < counts[kind] else "")
        for kind in present
    )
    about = (
        f"{row.scores.n} questions ({row.data}): {clauses or 'nothing went wrong'}. A question may have failed "
        "in several ways. Of each task those with the highest signal-to-noise come first."
    )
    kinds_shown = {kind: f"{kind} {shown_of[kind]}" for kind in present}
    tasks = sorted({outcome.task for outcome in shown})
    filters = _filter("kind", "What went wrong", kinds_shown) if present else ""
    if len(tasks) > 1:
        filters += _filter("task", "Task", {task: task for task in tasks})
    title = f"Failures of {row.name}" + (", simulated spectra" if row.simulated == "yes" else "")
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        title=_text(title),
        about=_text(about),
        calibration=_calibration(row),
        filters=filters,
        cards="\n".join(_folds(row, shown, cards)),
    )


def _folds(row: Row, shown: Sequence[Outcome], cards: Sequence[str]) -> Iterator[str]:
    """Yield the cards, folded by the first kind of failure and the task; a few are open."""
    counts = Counter((kinds(outcome)[0], outcome.task) for outcome in row.outcomes if kinds(outcome))
    for (kind, task), several in groupby(
        zip(shown, cards, strict=True), lambda pair: (kinds(pair[0])[0], pair[0].task)
    ):
        inside = [card for _, card in several]
        count = f"{len(inside)} of {counts[kind, task]}" if len(inside) < counts[kind, task] else f"{len(inside)}"
        is_open = " open" if len(cards) <= OPEN else ""
        yield f'<details class="fold"{is_open}><summary>{_text(task)}: {_text(kind)} ({count})</summary>'
        yield from inside
        yield "</details>"


def _calibration(row: Row) -> str:
    """Return a figure for each kind of P(YES)."""
    parts = []
    for calibration in row.calibrations:
        about = f"Reliability of P(YES), {p_yes(row, calibration)}"
        scores = "; ".join(f"{name} {plain(getattr(calibration, measure))}" for measure, name in MEASURES.items())
        parts.append(
            f'<details class="calibration"><summary>{_text(about)}</summary>'
            f"{_reliability_svg(calibration.bins, _text(about))}"
            f"<p>{_text(scores)} (means over tasks). Bars are 95 % Wilson intervals.</p></details>"
        )
    return "\n".join(parts)


def _reliability_svg(bins: Sequence[Bin], label: str) -> str:
    """Return the share of YES of each bin over its mean P(YES), with the diagonal of perfect calibration."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    filled = [(b.probability, b.positives, b.n) for b in bins if b.probability is not None and b.positives is not None]
    ink, accent = "#010101", "#020202"  # the page's own colours take their places
    style = {"svg.fonttype": "none", "svg.hashsalt": label, "font.size": 8}
    with rc_context(
        style | dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink)
    ):
        figure = Figure((3.2, 3.2), layout="constrained")
        axes = figure.add_subplot(xlim=(0, 1), ylim=(0, 1), xlabel="mean P(YES)", ylabel="share of YES", aspect="equal")
        axes.plot((0, 1), (0, 1), "--", color=ink, linewidth=0.8)
        for probability, positives, n in filled:
            axes.plot((probability, probability), wilson(positives, n), color=accent)
            axes.plot(probability, positives, "o", color=accent, clip_on=False, gid=f"{n} questions")
        for patch in (figure.patch, axes.patch):
            patch.set_visible(False)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    text = written.getvalue()
    text = text[text.index("<svg") :].replace(ink, "var(--faint)").replace(accent, "var(--accent)")
    return text.replace("<svg", f'<svg class="reliability" role="img" aria-label="{label}"', 1)


def _card(
    outcome: Outcome, trajectory: Trajectory | None, texts: Sequence[str], spectrum_of: SpectrumOf, folder: Path
) -> str:
    went_wrong = kinds(outcome)
    tags = "".join(f'<span class="tag">{_text(kind)}</span>' for kind in went_wrong)
    parts = [
        f'<article data-kinds="{_text("|".join(went_wrong))}" data-task="{_text(outcome.task)}">',
        f"<h2>{_text(outcome.source)}</h2>",
        f'<p class="facts"><span>{tags}</span>{_facts(outcome)}</p>',
    ]
    if trajectory is None:
        parts.append('<p class="result">There is no trace: the policy failed.</p>')
    else:
        spectrum = spectrum_of(outcome)
        images = {} if spectrum is None else pictures(trajectory, spectrum, folder)
        parts += _trace(outcome, trajectory, images)
        parts += _more(outcome, trajectory, texts)
    return "\n".join([*parts, "</article>"])


def _facts(outcome: Outcome) -> str:
    truth = f"truth <b>{outcome.label}</b>"
    read = f'read <b class="{_colour(outcome.predicted, outcome)}">{outcome.predicted or "none"}</b>'
    facts = [f"task <b>{_text(outcome.task)}</b>", truth, read]
    facts.append(f"S/N per pixel <b>{'not known' if outcome.snr is None else f'{outcome.snr:.3g}'}</b>")
    facts += [_text(outcome.survey)] if outcome.survey else []
    facts += ["simulated"] if outcome.simulated and "simulated" not in outcome.survey else []
    facts += [_text(outcome.ended)] if outcome.ended != "answered" else []
    return "".join(f"<span>{fact}</span>" for fact in facts)


def _colour(verdict: Verdict | None, outcome: Outcome) -> str:
    """Return the class of a verdict's colour: it shows whether it is right, not whether it is YES."""
    return "right" if verdict == outcome.label else "wrong"


def _trace(outcome: Outcome, trajectory: Trajectory, images: Mapping[str, Image.Image]) -> list[str]:
    overview = _figure(trajectory.overview, images, "The full spectrum")
    question = _text(trajectory.prompt.partition("\n")[0].replace("**", ""))
    parts = [f'<section class="turn"><h3>Question</h3><div><p class="text">{question}</p></div>{overview}</section>']
    for number, turn in enumerate(trajectory.turns(), start=1):
        words = "".join(_words(step, outcome) for step in turn)
        last = turn[-1]
        figure = ""
        if isinstance(last, Zoom):
            figure = _figure(last.picture, images, f"{window_text(last)}")
        parts.append(f'<section class="turn"><h3>Turn {number}</h3><div>{words}</div>{figure}</section>')
    return parts


def _words(step: Step, outcome: Outcome) -> str:
    match step:
        case Think():
            return f'<p class="text">{_text(step.text)}</p>'
        case Answer():
            verdict = step.verdict or "neither YES nor NO"
            return (
                f'<p class="call">Answer: <span class="{_colour(step.verdict, outcome)}">{verdict}</span></p>'
                f'<p class="text">{_text(step.explanation)}</p>'
            )
        case Zoom():
            label = f": {_text(step.label)}" if step.label else ""
            observation = f'<p class="result{"" if step.ok else " error"}">{_text(step.observation)}</p>'
            called = "Look at" if step.shows_spectrum else "Tool:"
            return f'<p class="call">{called} {_text(window_text(step))}{label}</p>{observation}'


def _more(outcome: Outcome, trajectory: Trajectory, texts: Sequence[str]) -> list[str]:
    parts = []
    if trajectory.faults:
        faults = "".join(f"<li>{_text(fault)}</li>" for fault in trajectory.faults)
        parts.append(f"<details><summary>Faults of form</summary><ul>{faults}</ul></details>")
    if outcome.format_ok is False or outcome.predicted is None:
        raw = _text("\n\n".join(texts)) or "(nothing)"
        parts.append(f"<details><summary>As it was written</summary><pre>{raw}</pre></details>")
    return parts


def _figure(sha256: str | None, images: Mapping[str, Image.Image], caption: str) -> str:
    if sha256 is None:
        return ""
    image = images.get(sha256)
    if image is None:
        return '<p class="result">This picture cannot be drawn again.</p>'
    return (
        f'<figure><img alt="{_text(caption)}" tabindex="0" loading="lazy" width="{image.width}" '
        f'height="{image.height}" src="{data_url(image)}"><figcaption>{_text(caption)}</figcaption></figure>'
    )


def _filter(name: str, legend: str, choices: Mapping[str, str]) -> str:
    entries: Iterable[tuple[str, str]] = [("", "all"), *choices.items()]
    radios = "".join(
        f'<label><input type="radio" name="{name}" value="{_text(value)}"{"" if value else " checked"}>'
        f"<span>{_text(words)}</span></label>"
        for value, words in entries
    )
    return f'<fieldset class="set"><legend>{legend}</legend>{radios}</fieldset>'


def _many(count: int, kind: str) -> str:
    plural = {"no answer": "without an answer", "bad form": "in bad form"}
    if kind in plural:
        return f"{count} {plural[kind]}"
    return f"{count} {kind}{'' if count == 1 else 's'}"


def _text(words: str) -> str:
    """Escape text of models and files: no markup, no invisible characters."""
    visible = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in words)
    return escape(visible, quote=True)
