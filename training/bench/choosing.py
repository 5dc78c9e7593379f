"""Which failures go into the gallery, and in which order: the same ones each time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from training.bench.outcomes import Outcome

KINDS: Mapping[str, str] = {
    "false positive": "said YES, the truth is NO",
    "false negative": "said NO, the truth is YES",
    "no answer": "no YES or NO in what was said",
    "bad form": "not in the published form, whatever was meant",
    "tool error": "a call that the tool answered with an error",
}
"""What can go wrong, in the order in which it is shown; a question may be of several kinds."""


def kinds(outcome: Outcome) -> tuple[str, ...]:
    """What went wrong with one; empty if nothing did."""
    is_kind = {
        "false positive": outcome.predicted == "YES" and outcome.label == "NO",
        "false negative": outcome.predicted == "NO" and outcome.label == "YES",
        "no answer": outcome.predicted is None,
        "bad form": outcome.format_ok is False,
        "tool error": outcome.errors > 0,
    }
    return tuple(kind for kind in KINDS if is_kind[kind])


def totals(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many there are of each kind."""
    found = dict.fromkeys(KINDS, 0)
    for one in outcomes:
        for kind in kinds(one):
            found[kind] += 1
    return found


def chosen(outcomes: Iterable[Outcome], most: int) -> list[Outcome]:
    """At most so many of each kind: task by task in turn, and of each task those with the highest
    signal-to-noise first, because a mistake about a good spectrum is nobody else's fault.
    """
    failures = [one for one in outcomes if kinds(one)]
    taken: dict[tuple[str, str], Outcome] = {}
    for kind in KINDS:
        for one in _in_turn([one for one in failures if kind in kinds(one)])[:most]:
            taken[one.task, one.key] = one
    return sorted(taken.values(), key=lambda one: (_place(one), one.task, _order(one)))


def _in_turn(failures: Sequence[Outcome]) -> list[Outcome]:
    by_task: dict[str, list[Outcome]] = defaultdict(list)
    for one in sorted(failures, key=_order):
        by_task[one.task].append(one)
    ranked = [(rank, task, one) for task, several in by_task.items() for rank, one in enumerate(several)]
    return [one for _, _, one in sorted(ranked, key=lambda entry: entry[:2])]


def _order(one: Outcome) -> tuple[float, str]:
    return (-one.snr if one.snr is not None else float("inf"), one.key)


def _place(one: Outcome) -> int:
    return list(KINDS).index(kinds(one)[0])
