"""The evidence of rollouts on trial: is what a policy wrote about a tool call necessary for what it wrote after it?

One tool call per rollout: the feature that the policy claims is removed from the spectrum, and, separately, a stretch
without a feature is changed by the same energy (``agent.trial.edits``); the same generator continues both from that
turn. What comes of it depends neither on the label nor on whether the answer is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.measure import rest
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from agent.trajectory.steps import Think, Zoom
from agent.trial.edits import Edited, placebo, remove
from agent.trial.making import avoided, lines_named, seen_by, succeeded
from agent.trial.run import Continuation as Written
from agent.trial.subjects import Subject, subject_of, undecidable
from training.grpo.rollout import Continuation, Rollout
from training.grpo.settings import derived_seed


@dataclass(frozen=True)
class EvidenceTest:
    """One tool call of one rollout on trial.

    :param row: place of the rollout
    :param turns: turns up to the call, it included
    """

    row: int
    turns: int
    subject: Subject
    removed: Continuation
    placebo: Continuation


@dataclass(frozen=True)
class Evidence:
    """What became of one test.

    :param removal_followed: without the feature the inspection ends with an answer, and its text does not claim it
    :param placebo_followed: the claim or the verdict changed although only an unrelated stretch did
    """

    removal_followed: bool
    placebo_followed: bool

    @property
    def holds(self) -> bool:
        """Whether the removal was followed and the placebo was not: what is rewarded."""
        return self.removal_followed and not self.placebo_followed


def planned(rollouts: Sequence[Rollout], seed: int) -> list[EvidenceTest]:
    """Return the test of each rollout that can be tested, in their order.

    A tool call can be tested if it got a picture, its label or the thought after it names a line or band, the text
    after it claims that feature, the noise does not hide it, and both edits can be made. As in ``agent.trial.run``, a
    removal after which the spectrum still shows the feature does not count. Of several calls, one is chosen at random.
    A rollout that did not end with an answer is not tested.

    :param seed: of the choice and of the noise in replaced pixels; different in each round and process
    """
    at_rest: dict[int, tuple[Spectrum, Spectrum]] = {}
    tests = []
    for row, rollout in enumerate(rollouts):
        if not rollout.tool_calls or rollout.reason != "answered":
            continue
        question = rollout.question
        if id(question) not in at_rest:
            spectrum = question.spectrum()
            at_rest[id(question)] = spectrum, rest(spectrum)
        random = np.random.default_rng(derived_seed(seed, row))
        test = _test(row, rollout, *at_rest[id(question)], random)
        if test is not None:
            tests.append(test)
    return tests


def outcomes_of(
    tests: Sequence[EvidenceTest], rollouts: Sequence[Rollout], continued: Sequence[Rollout]
) -> list[Evidence | None]:
    """Return what became of the test of each rollout, None where nothing could be tested.

    :param continued: ``removed`` and ``placebo`` of each test, one after the other
    """
    evidence: list[Evidence | None] = [None] * len(rollouts)
    for number, test in enumerate(tests):
        before = written_after(rollouts[test.row].trajectory, test.turns)
        pair = continued[2 * number : 2 * number + 2]
        removed, unrelated = (written_after(edited.trajectory, test.turns) for edited in pair)
        evidence[test.row] = Evidence(
            removal_followed=pair[0].reason == "answered" and removed.claims(test.subject) is not True,
            placebo_followed=unrelated.claims(test.subject) is not True or unrelated.verdict != before.verdict,
        )
    return evidence


def written_after(trajectory: Trajectory, turns: int) -> Written:
    """Return what a trajectory says after its first ``turns`` turns, in the form in which a trial compares it."""
    thoughts = [
        " ".join(step.text for step in turn if isinstance(step, Think)) for turn in list(trajectory.turns())[turns:]
    ]
    answer = trajectory.answer
    explanation = "" if answer is None else answer.explanation
    first = thoughts[0] if thoughts else ""
    later = "\n".join([*thoughts[1:], explanation])
    verdict = None if answer is None else answer.verdict
    return Written(first, later, "\n".join([*thoughts, explanation]), verdict, None if answer is None else answer.score)


def _test(
    row: int, rollout: Rollout, spectrum: Spectrum, at_rest: Spectrum, random: np.random.Generator
) -> EvidenceTest | None:
    """Return the test of one rollout; None if no tool call can be tested."""
    task = rollout.question.task
    named = lines_named(rollout.trajectory, spectrum.medium)
    # Without the last turn: nothing was written after it.
    turns = list(rollout.trajectory.turns())
    for place in random.permutation(max(len(turns) - 1, 0)):
        number = int(place) + 1
        zoom = turns[place][-1]
        if not isinstance(zoom, Zoom) or not zoom.ok or not (zoom.measures or zoom.window is not None):
            continue
        written = written_after(rollout.trajectory, number)
        subject = subject_of(zoom, written.thought, at_rest, task)
        if subject is None or written.claims(subject) is not True or undecidable(subject, at_rest):
            continue
        removed = remove(spectrum, at_rest, subject, random)
        if not isinstance(removed, Edited) or not isinstance(succeeded("remove", removed, subject), Edited):
            continue
        avoid = [*avoided(at_rest, task), *named, removed.window, subject.span, *subject.side_bands]
        unrelated = placebo(spectrum, at_rest, removed, seen_by(zoom, subject), avoid, random)
        if isinstance(unrelated, Edited):
            continued = (Continuation(rollout, number, edited.spectrum) for edited in (removed, unrelated))
            return EvidenceTest(row, number, subject, *continued)
    return None
