"""The names of scorers, items and sources in a report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from reviewer.agreement.values import Scores
from reviewer.blind.results import Results, source_rank


@dataclass(frozen=True)
class Names:
    """The names of scorers and items in a report.

    :param scorers: S1, S2, … by initials
    :param items: number within the session by the item's own number; of its two texts, the first one's
    :param people: the scorers' full names by initials, to be removed from texts
    :param traces: number within the session by version
    """

    scorers: Mapping[str, str]
    items: Mapping[int, int]
    people: Mapping[str, str]
    traces: Mapping[int, int] = field(default_factory=dict)

    def anonymous(self, text: str) -> str:
        """Return a text with the initials (whole words in capitals) and names of scorers replaced."""
        # In one pass: a new name may be the initials of another scorer.
        called = {initials: self.scorers[initials] for initials in self.scorers}
        called |= {person.casefold(): self.scorers[who] for who, person in self.people.items() if person.strip()}
        people = sorted((person for person in self.people.values() if person.strip()), key=len, reverse=True)
        either = [f"(?i:{re.escape(person)})" for person in people] + [re.escape(scorer) for scorer in self.scorers]
        pattern = rf"(?<!\w)(?:{'|'.join(either)})(?!\w)"
        return re.sub(pattern, lambda hit: called.get(hit[0]) or called[hit[0].casefold()], text)

    def note(self, text: str) -> str:
        """Return a text as ``anonymous`` does, with items by their number within the session."""

        def renumbered(hit: re.Match[str]) -> str:
            return str(self.items.get(int(hit[0]), "outside of the session"))

        return re.sub(r"(?<=\bitem )\d+", renumbered, self.anonymous(text))

    def results(self, results: Results) -> Results:
        """Return the session with a scorer's new name for each source that is a scorer."""
        called = {
            name: self.anonymous(name)
            for trace in results.traces.values()
            if trace.source_kind == "person"
            for name in (trace.source, trace.drafter)
        }
        if all(source == now for source, now in called.items()):
            return results
        traces = {
            version: replace(
                trace,
                source=called.get(trace.source, trace.source),
                drafter=called.get(trace.drafter, trace.drafter),
            )
            for version, trace in results.traces.items()
        }
        plan = replace(results.plan, sources=tuple(called.get(source, source) for source in results.plan.sources))
        return replace(results, traces=traces, plan=plan)

    def table(self, scores: Scores) -> Scores:
        """Return the scores with scorers by their new names, in the order of these."""
        order = sorted(scores.raters, key=self._rank)
        return Scores(scores.items, tuple(self.scorers[scorer] for scorer in order), scores.only(order).values)

    def _rank(self, initials: str) -> int:
        return list(self.scorers).index(initials)


def report_names(results: Results, people: Mapping[str, str]) -> Names:
    """Name the scorers in an order that only the database gives, and the items in the order of their numbers.

    The order is sampled with the SHA-256 of the assignments' tokens. They are random and in no file of the report, so
    that nobody can compute the order from the published seed, and the same session gets the same names again.

    :param people: full names by initials
    """
    order = sorted(results.plan.scorers)
    secret = hashlib.sha256("\n".join(sorted(response.token for response in results.responses)).encode()).hexdigest()
    Random(f"{secret}: names in the report").shuffle(order)
    traces = sorted(results.traces.values(), key=lambda trace: (trace.item, trace.version))
    numbers = {trace.version: number for number, trace in enumerate(traces, start=1)}
    return Names(
        {initials: f"S{number}" for number, initials in enumerate(order, start=1)},
        {trace.item: numbers[trace.version] for trace in reversed(traces)},
        {initials: people.get(initials, "") for initials in order},
        numbers,
    )


def sources(results: Results) -> tuple[str, ...]:
    """Return the arms of the comparison in the plan's order, else by name; gold items belong to none."""
    shown = {results.traces[version].source for version in counted_versions(results)}
    return tuple(sorted(shown, key=lambda source: source_rank(results, source)))


def counted_versions(results: Results) -> tuple[int, ...]:
    """Return the versions in the results, without gold items, by item."""
    versions = {v for kind in results.plan.kinds for response in results.first(kind) for v in response.shown}
    return tuple(sorted(versions, key=lambda version: (results.traces[version].item, version)))
