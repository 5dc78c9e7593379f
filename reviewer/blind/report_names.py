"""Names for what is published: scorers as S1, S2, …, items by their number within the session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from reviewer.agreement.values import Scores
from reviewer.blind.results import Results


@dataclass(frozen=True)
class Names:
    """What scorers and items are called in a report.

    :param scorers: S1, S2, … by initials
    :param items: number within the session by the item's own number
    :param people: the scorers' full names by initials, to be taken out of what was written
    """

    scorers: Mapping[str, str]
    items: Mapping[int, int]
    people: Mapping[str, str]

    def anonymous(self, text: str) -> str:
        """The text with the initials (as whole words, in capitals) and the names of scorers replaced."""
        # In one pass: what somebody is called now may be somebody else's initials.
        called = {initials: self.scorers[initials] for initials in self.scorers}
        called |= {one.casefold(): self.scorers[who] for who, one in self.people.items() if one.strip()}
        people = sorted((one for one in self.people.values() if one.strip()), key=len, reverse=True)
        either = [f"(?i:{re.escape(one)})" for one in people] + [re.escape(one) for one in self.scorers]
        pattern = rf"(?<!\w)(?:{'|'.join(either)})(?!\w)"
        return re.sub(pattern, lambda hit: called.get(hit[0]) or called[hit[0].casefold()], text)

    def note(self, text: str) -> str:
        """As ``anonymous``, with items by their number within the session as well."""

        def renumbered(hit: re.Match[str]) -> str:
            return str(self.items.get(int(hit[0]), "outside of the session"))

        return re.sub(r"(?<=\bitem )\d+", renumbered, self.anonymous(text))

    def results(self, results: Results) -> Results:
        """The same session where a source that is a scorer goes by the scorer's new name."""
        called = {
            trace.source: self.anonymous(trace.source)
            for trace in results.traces.values()
            if trace.source_kind == "person"
        }
        if all(source == now for source, now in called.items()):
            return results
        traces = {
            version: replace(trace, source=called.get(trace.source, trace.source))
            for version, trace in results.traces.items()
        }
        plan = replace(results.plan, sources=tuple(called.get(one, one) for one in results.plan.sources))
        return replace(results, traces=traces, plan=plan)

    def table(self, scores: Scores) -> Scores:
        """The same scores with scorers by their new names, in the order of these."""
        order = sorted(scores.raters, key=self._rank)
        return Scores(scores.items, tuple(self.scorers[one] for one in order), scores.only(order).values)

    def _rank(self, initials: str) -> int:
        return list(self.scorers).index(initials)


def names(results: Results, people: Mapping[str, str]) -> Names:
    """The scorers in an order drawn by the session's seed, the items in the order of their numbers.

    :param people: full names by initials
    """
    order = sorted(results.plan.scorers)
    Random(f"{results.plan.seed}: names in the report").shuffle(order)
    items = sorted({trace.item for trace in results.traces.values()})
    return Names(
        {initials: f"S{number}" for number, initials in enumerate(order, start=1)},
        {item: number for number, item in enumerate(items, start=1)},
        {initials: people.get(initials, "") for initials in order},
    )
