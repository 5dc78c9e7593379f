"""What is not in the results or may weaken them: exclusions, earlier sessions, fingerprints of the sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from reviewer.blind.analysis import scorer_checks
from reviewer.blind.fingerprints import FEATURES, Fingerprints, Separation
from reviewer.blind.pictures import PICTURE_STATES
from reviewer.blind.plan import CANNOT_TELL
from reviewer.blind.report.claims import TITLES
from reviewer.blind.report.markup import many, table
from reviewer.blind.report.method import ReportData
from reviewer.blind.sheet import ScoreAnswer


def exclusions(material: ReportData) -> str:
    """Return what is not in the results, or may weaken them, with reasons and numbers."""
    results, plan = material.results, material.results.plan
    firsts = [counted for kind in plan.kinds for counted in results.first(kind)]
    training = [response for response in results.responses if response.training]
    gold = results.gold()
    unable = {
        what.lower(): sum(
            getattr(first.answer, key) == CANNOT_TELL for first in firsts if isinstance(first.answer, ScoreAnswer)
        )
        for key, what in TITLES.items()
    }
    revealing = sum(trace.reveals for trace in results.traces.values())
    rule = "excluded from the sample" if plan.giveaways == "leave out" else "included and flagged"
    primary = "excluded from" if plan.analysis.without_revealing else "part of"
    exposed = sum(first.exposed for first in firsts)
    silent = sum(first.answer is None for first in firsts)
    repeats = sum(response.repeat_of is not None for response in results.responses)
    items, trained = (len({counted.shown[0] for counted in shown}) for shown in (gold, training))
    scored = sum(isinstance(first.answer, ScoreAnswer) for first in firsts)
    rows: list[Sequence[object]] = [
        ("traces barred from a scorer", len(material.barred), "the scorer worked on the trace before it was sampled"),
        ("questions without an answer", silent, f"of {len(firsts)}; they have no score"),
        ("showings of training items", len(training), f"{many(trained, 'training item')}; in no result"),
        ("repeated showings", repeats, "in self-consistency only"),
        ("showings of gold items", len(gold), f"{many(items, 'gold item')}; in calibration only"),
        *((f"“cannot tell”, {what}", n, f"of {scored} answers; it is no score") for what, n in unable.items()),
        (
            "traces that may reveal their author",
            revealing,
            f"of {len(results.traces)} shown, training and gold items included; by the plan such traces are {rule}, "
            f"and {primary} the primary analysis",
        ),
        *(
            (f"pictures: {state}", sum(of.values()), _by_source(of))
            for state in PICTURE_STATES
            for of in ({source: counts[state] for source, counts in material.pictures.items() if counts[state]},)
        ),
        (
            "showings of traces seen in an earlier session",
            exposed,
            f"of {len(firsts)}; part of the results, and the primary comparison is repeated without them",
        ),
        (
            "answers that were changed",
            sum(first.changes > 0 for first in firsts),
            f"of {len(firsts) - silent}; the last one counts",
        ),
    ]
    notes = "".join(f"<li>{escape(material.names.note(note))}</li>" for note in results.notes)
    notes_html = f"<h3>Notes of the sampling</h3><ul>{notes}</ul>" if notes else ""
    counts = table(["what", "number", "treatment"], [list(map(str, row)) for row in rows])
    return f"{counts}{_excluded_scorers(material)}{_history(material)}{notes_html}"


def _history(material: ReportData) -> str:
    """Return which sessions preceded this one. Many that were not opened may mean that the sample was selected."""
    history = material.history
    if history is None:
        return ""
    discarded = sum(session.discarded is not None for session in history.unopened)
    unopened = (
        f"Sessions with a source and task in common that were created before and not opened: {len(history.unopened)}, "
        f"of which {discarded} were closed without opening."
    )
    if not history.earlier:
        return f"<h3>Earlier sessions</h3><p>{escape(unopened)} No earlier session showed these traces.</p>"
    called = material.names.scorers
    rows = [
        [
            str(session.session),
            f"{session.opened:%Y-%m-%d}",
            str(session.items),
            ", ".join(sorted((called[who] for who in session.scorers if who in called), key=_number)) or "none",
        ]
        for session in history.earlier
    ]
    sessions = table(["earlier session", "opened", "traces of this one", "scorers of this one"], rows)
    return f"<h3>Earlier sessions</h3><p>{escape(unopened)}</p>{sessions}"


def _number(called: str) -> int:
    return int(called.removeprefix("S"))


def fingerprint_tables(prints: Fingerprints) -> str:
    """Return how well a program tells the sources apart, and the features that it uses, by source."""

    def auc(separation: Separation) -> str:
        if separation.auc is None:
            return f"undefined: {separation.reason}"
        ends = (
            ""
            if separation.low is None or separation.high is None
            else f" ({separation.low:.2f} to {separation.high:.2f})"
        )
        return f"{separation.auc:.2f}{ends}"

    kinds = (("layout", prints.layout), ("wording", prints.wording), ("both", prints.both))
    named = [*prints.traces]
    head = ["median", *(f"{source} ({many(n, 'trace')})" for source, n in prints.traces.items())]
    features = [[words, *(f"{prints.medians[source][key]:.3g}" for source in named)] for key, words in FEATURES.items()]
    return (
        f"<p>{escape(prints.sentence)} Scorers see the same things, and may learn which traces are of one source. The "
        "AUC is of a logistic regression for spectra that it was not trained on: 0.5 is chance, 1 is perfect.</p>"
        f"{table(['from', 'AUC (95 % interval)'], [[name, auc(kind)] for name, kind in kinds])}"
        f"{table(head, features)}"
    )


def _by_source(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{source} {n}" for source, n in sorted(counts.items()))


def _excluded_scorers(material: ReportData) -> str:
    """Return the checks of each scorer by the rules of the analysis plan; empty without rules."""
    checks = scorer_checks(material.results)
    if not any(checks.values()):
        return ""
    rows = [
        [
            called,
            "; ".join(map(str, checks[initials])),
            "excluded" if any(c.failed for c in checks[initials]) else "kept",
        ]
        for initials, called in material.names.scorers.items()
    ]
    return f"<h3>Scorers by the rules of the analysis plan</h3>{table(['scorer', 'checks', 'primary analysis'], rows)}"
