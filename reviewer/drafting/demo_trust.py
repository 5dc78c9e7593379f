"""P(YES) and trials of the demo's drafts, so that the Trust section and the evidence on trial can be seen at once.

``demo_trust.json`` holds them (``python -m reviewer.drafting.demo_trust`` writes it again), because trials take seconds
each. One trial fails on purpose: its policy repeats the draft whatever the spectrum shows, and its name says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.conversation import Conversation, Piece, Policy
from agent.policies.baseline.rule import Baseline
from agent.tasks import load
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.tags import turn_text
from reviewer.drafting.demo import BATCH, demo_items, demo_sky
from reviewer.store import Draft, ScoreRow, Store, TrialRow

FILE = Path(__file__).with_name("demo_trust.json")
REPEATS = "demo policy that repeats the draft and does not read the spectrum"
PASSED, NOT_PASSED = 1, 4
"""Numbers of the two items with a trial; the draft of the second one is wrong on purpose."""
SCORED = "cv"
"""Task whose drafts have P(YES): the one with the most spectra."""


@dataclass(frozen=True)
class Repeats:
    """A policy that writes the turns of a draft again, whatever the spectrum shows."""

    draft: Trajectory

    @property
    def drafter(self) -> Drafter:
        return Drafter("baseline", REPEATS, {})

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield turn_text(list(self.draft.turns())[len(conversation.exchanges)])


def load_demo(store: Store) -> None:
    """Add the demo to an empty database: items, P(YES), trials, and what catalogues know of the simulated objects.

    P(YES) and trials of a draft that had to be made again are left out: the shipped ones are of another spectrum.
    """
    drafts = [Draft(trajectory, spectrum, batch=BATCH) for spectrum, trajectory in demo_items()]
    shipped = json.loads(FILE.read_text(encoding="utf-8"))
    rows = [
        ScoreRow(added.item_id, score["p_yes"], score["features"], tuple(score["reasons"]))
        for added, draft in zip(store.items.add_all(drafts), drafts, strict=True)
        if (score := shipped["scores"].get(draft.trajectory.content_hash())) is not None
    ]
    store.sky.add(demo_sky(), BATCH)
    store.trust.record_scores(None, SCORED, shipped["model"], rows)
    store.trust.record_trials(
        None, [TrialRow(trial["content_hash"], trial["passed"], trial) for trial in shipped["trials"]]
    )


def main() -> None:
    """Measure the demo's drafts, put two of them on trial, and write ``demo_trust.json``."""
    from agent.trial.run import trial
    from agent.trust.features import data_reasons, features_of
    from agent.trust.score import RAW

    tasks = load()
    scores, trials = {}, []
    for number, (spectrum, draft) in enumerate(demo_items(), start=1):
        task = tasks[draft.task]
        if draft.task == SCORED:
            features = features_of([draft], spectrum, task)
            reasons = data_reasons([draft], spectrum, task)
            score = {"p_yes": RAW.p_yes(features), "features": features.to_json(), "reasons": reasons}
            scores[draft.content_hash()] = score
        policies: dict[int, Policy] = {PASSED: Baseline(), NOT_PASSED: Repeats(draft)}
        if number in policies:
            trials.append(trial(draft, None, spectrum, task, policies[number]).to_json())
    shipped = {"model": RAW.to_json(), "scores": scores, "trials": trials}
    FILE.write_text(json.dumps(shipped, ensure_ascii=False, sort_keys=True, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {FILE.name}: P(YES) of {len(scores)} drafts, {len(trials)} trials")


if __name__ == "__main__":
    main()
