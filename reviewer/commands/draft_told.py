"""What ``spec-o3 draft`` says when it is done: to a person, and to a script."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent.labels import Labels
from agent.many.inspecting import Work
from reviewer.draft_results import Tally, aside
from reviewer.spending import Spending

SHOWN = 20  # names and sentences printed for a person; --json has them all


@dataclass(frozen=True)
class Told:
    """A run that is over. ``gone`` is the sentence with which the policy failed for everybody, "" if it did
    not.
    """

    arguments: Namespace
    database: Path | None
    tally: Tally
    work: Work
    labels: Labels | None
    spending: Spending
    gone: str = ""

    @property
    def is_bad_news(self) -> bool:
        """Whether something that was to be drafted was not, other than for want of money."""
        return bool(self.tally.refused or self.work.passed_over or self.gone)

    @property
    def ended(self) -> str:
        """Why it ended before its time."""
        return self.gone or self.spending.ended

    @property
    def unused(self) -> Sequence[str]:
        """Labels that no spectrum had; known once every spectrum has been met."""
        return self.labels.unused if self.labels and self.work.is_complete else ()

    def to_json(self) -> dict[str, Any]:
        tally, used = self.tally, self.spending.used
        told: dict[str, Any] = {"drafted": tally.drafted, "added": tally.new, "refused": tally.refused}
        if used.requests:
            told["tokens"] = asdict(used)
        if self.arguments.price_out is not None:
            told["cost"] = round(self.spending.cost, 6)
        if self.labels is not None:
            told |= {"without_label": self.work.passed_over, "labels_unused": list(self.unused)}
        if self.labels is not None or (self.arguments.label and used.requests):
            told |= {"contradicting": tally.contradicting, "giving_away": tally.giving_away}
            told |= {"unanswered": tally.unanswered, "left_out": tally.left_out}
        if tally.empty:
            told["without_data"] = tally.empty
        if self.ended:
            told["ended"] = self.ended
        return told

    def text(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        tally, out = self.tally, self.arguments.out
        where = [f"{tally.new} of them new in {self.database}"] if self.database else []
        where += [f"written to {out}"] if out else []
        yield f"{tally.drafted} drafted, {', '.join(where)}"
        yield from self._spent()
        if tally.contradicting:
            put = f"; put into {aside(out)}" if tally.left_out else "; keep or reject them in review"
            yield f"{tally.contradicting} contradict their label{put}"
        if tally.giving_away:
            yield f"{tally.giving_away} give away that the answer was told; their faults say where"
        if tally.unanswered:
            yield f"{tally.unanswered} came to no answer"
        if tally.empty:
            yield f"{tally.empty} targets have no data"
        yield from _named("without a label, not drafted", self.work.passed_over)
        yield from _named("labels of spectra that were not given", self.unused)
        yield from (f"refused: {reason}" for reason in tally.refused[:SHOWN])
        if len(tally.refused) > SHOWN:
            yield f"and {len(tally.refused) - SHOWN} more refused"
        if self.ended:
            yield f"ended early: {self.ended}"

    def _spent(self) -> Iterator[str]:
        used = self.spending.used
        if used.requests:
            cost = f", {self.spending.cost:.2f} in all" if self.arguments.price_out is not None else ""
            read = f"{used.prompt:,} tokens read ({used.cached:,} of them cached)"
            yield f"{read}, {used.completion:,} written, in {used.requests:,} requests{cost}"


def _named(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield f"{len(names)} {what}: {', '.join(names[:SHOWN])}{more}"
