"""The trial of a trace: edit the spectrum behind each tool call, continue from that turn, compare what is written.

The texts of the turns up to and including the call are kept, every picture is drawn anew from the edited spectrum, and
the policy writes the next turn and all that follow. Depends on ``agent.loop``; no database, no page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from agent.conversation import Policy, PolicyError, Stop, sky_source
from agent.language import deferred, tr
from agent.loop import MAX_TURNS, Answered, Ended, Text, Thought, inspect
from agent.sky.records import Sky
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.tool import frame_of
from agent.trajectory import Trajectory, Zoom
from agent.trajectory.steps import Verdict
from agent.trajectory.tags import turn_text
from agent.trial.edits import Edited, NotEdited
from agent.trial.making import Maker, lines_named, succeeded, thought_after
from agent.trial.report import EDITS, Edit, EditOutcome, Skipped, Trial
from agent.trial.sky import EditedSky, magnitudes_stated, states_magnitude, swap
from agent.trial.sky import placebo as sky_placebo
from agent.trial.subjects import Subject, is_there, states, subject_of, undecidable
from agent.trial.typical import typical_of


class TrialStopped(Exception):
    """The trial was stopped before its end; nothing of it counts."""


@dataclass(frozen=True)
class Continuation:
    """What a policy wrote from one turn on: the thought right after the call, all later text, and its answer."""

    thought: str
    later: str
    text: str
    verdict: Verdict | None
    score: float | None

    @property
    def whole(self) -> str:
        return f"{self.thought}\n{self.later}"

    def claims(self, subject: Subject) -> bool | None:
        """Return whether the text states that the subject is there, or that it is not; None if it states neither.

        A text that states it anywhere claims it.
        """
        return states(self.thought, subject, self.later)


def trial(
    trajectory: Trajectory,
    texts: Sequence[str] | None,
    spectrum: Spectrum,
    task: Task,
    policy: Policy,
    seed: int = 0,
    edits: Collection[Edit] = EDITS,
    placebos: int = 1,
    stop: Stop | None = None,
    on_call: Callable[[int, int], None] = lambda done, of: None,
) -> Trial:
    """Put the evidence of a trace on trial.

    Each tool call that names a line or band is tested. Which edits are made depends on what the policy writes without
    an edit: a subject that the text claims is removed, and flipped and shifted if it is a line that the spectrum shows;
    one that the text denies, or that neither the text nor the spectrum shows, is injected. Each call gets placebos.
    A call is skipped where the noise hides whether the subject is there (``agent.trial.subjects.undecidable``), and an
    edit where the spectrum after it still shows a removed subject, or does not show an injected one.

    An edit was followed if

    - remove, flip, shift: the text after the edit does not claim the subject any more;
    - swap, of the parallax in the records of a call of ``sky_context`` (``agent.trial.sky``): the text gives the new
      M_G and not the old one. Where it gives none, score and verdict decide as for inject;
    - inject: the text after the edit claims the subject. Only where neither text states anything about it, a score that
      moves to the side of the feature's role by more than after any placebo counts, or a changed verdict.

    A claim that stays is not excused by a verdict that moves. A placebo counts as "followed" if the claim about the
    subject or the verdict changed although it should not. The unedited spectrum is continued from the same turn with
    the same policy and seed, so that sampling noise is the same on both sides.

    :param texts: raw assistant turns; None: the canonical texts of the steps
    :param seed: of the noise of replaced pixels
    :param placebos: placebo edits per tool call
    :param on_call: called before a tool call is tested, with the number of those done and of all
    :raises ValueError: the trajectory is of another spectrum
    :raises PolicyError: the policy cannot continue
    :raises TrialStopped: ``stop`` was set
    """
    if trajectory.spectrum_sha256 not in (None, spectrum.sha256):
        raise ValueError(
            tr(
                "{spectrum_name}: found a trace of another spectrum, expected one of this spectrum",
                spectrum_name=trajectory.spectrum_name,
            )
        )
    if task.prompt != trajectory.prompt:
        task = task.with_prompt(trajectory.prompt)
    turns = list(trajectory.turns())
    written = [turn_text(turn) for turn in turns] if texts is None else list(texts)
    case = _Case(spectrum, task, policy, seed, frozenset(edits), placebos, stop or Stop(), trajectory)
    outcomes: list[EditOutcome] = []
    for number, turn in enumerate(turns):
        zoom = turn[-1]
        if not isinstance(zoom, Zoom) or number >= len(written):
            continue
        tested = trajectory.zooms.index(zoom)
        if zoom.shows_sky and zoom.drawn and number + 1 < case.max_turns:
            on_call(tested, len(trajectory.zooms))
            outcomes += case.sky_call(zoom, written[: number + 1])
            continue
        if not (zoom.drawn or (zoom.measures and zoom.ok)) or number + 1 >= case.max_turns:
            case.skip(zoom, None, deferred("the call got no picture and no number"))
            continue
        subject = subject_of(zoom, thought_after(trajectory, zoom), case.at_rest, task)
        if subject is None:
            case.skip(
                zoom,
                None,
                deferred("neither its label nor the thought after it names a line or band that can be edited"),
            )
            continue
        on_call(tested, len(trajectory.zooms))
        outcomes += case.call(zoom, subject, written[: number + 1])
    drafter = policy.drafter
    return Trial(
        content_hash=trajectory.content_hash(),
        spectrum_sha256=spectrum.sha256,
        task=task.key,
        drafter={"kind": drafter.kind, "name": drafter.name, "settings": dict(drafter.settings)},
        seed=seed,
        outcomes=tuple(outcomes),
        skipped=tuple(case.skipped),
    )


class _Case:
    """One trace on trial: the spectrum, the policy, and what could not be tested."""

    def __init__(
        self,
        spectrum: Spectrum,
        task: Task,
        policy: Policy,
        seed: int,
        edits: frozenset[Edit],
        placebos: int,
        stop: Stop,
        trajectory: Trajectory,
    ) -> None:
        self.spectrum = spectrum
        self.maker = Maker(spectrum, task, seed, lines_named(trajectory, spectrum.medium))
        self.at_rest = self.maker.at_rest
        self.task = task
        self.policy = policy
        self.edits = edits
        self.placebos = placebos
        self.stop = stop
        self.max_turns = _max_turns(trajectory)
        source = sky_source(policy)
        # An edited spectrum is another one, of the same object.
        self.sky = None if source is None else source(spectrum.sha256)
        self.skipped: list[Skipped] = []

    def skip(self, zoom: Zoom, edit: Edit | None, reason: str) -> None:
        self.skipped.append(Skipped(zoom.id, edit, reason))

    def call(self, zoom: Zoom, subject: Subject, begin: Sequence[str]) -> list[EditOutcome]:
        """Test one tool call."""
        before = self._continued(self.spectrum, begin)
        edited_of = self._edits_of(zoom, subject, before.claims(subject))
        if not edited_of:
            return []
        outcomes = [
            self._outcome(zoom, subject, "placebo", edited, before, self._continued(edited.spectrum, begin), 0.0)
            for edited in self._placebos(zoom, subject, next(iter(edited_of.values())))
        ]
        moved = [
            abs(o.score_after - o.score_before)
            for o in outcomes
            if o.score_after is not None and o.score_before is not None
        ]
        for edit, edited in edited_of.items():
            after = self._continued(edited.spectrum, begin)
            outcomes.append(self._outcome(zoom, subject, edit, edited, before, after, max(moved, default=0.0)))
        return outcomes

    def _edits_of(self, zoom: Zoom, subject: Subject, claimed: bool | None) -> dict[Edit, Edited]:
        """Return the edits of one call that can be made, placebos apart."""
        is_shown = is_there(subject, self.at_rest)
        edits_tried: list[Edit] = ["inject"]
        if claimed is True:
            edits_tried = ["remove", "flip", "shift"] if is_shown and subject.line is not None else ["remove"]
        elif claimed is None and is_shown is not False:
            reason = (
                deferred("the spectrum shows it, but no thought says whether it is there, so nothing can be refuted")
                if is_shown
                else deferred("these data do not show whether it is there, so there is nothing to remove")
            )
            self.skip(zoom, None, f"{subject.name}: {reason}")
            return {}
        strength = typical_of(subject, self.task.key).strength if claimed is not True else None
        if hidden := undecidable(subject, self.at_rest, strength):
            self.skip(zoom, None, f"{subject.name}: {hidden}")
            return {}
        edited_of: dict[Edit, Edited] = {}
        for edit in edits_tried:
            if edit not in self.edits:
                continue
            edited = self.maker.edit(edit, zoom, subject)
            if isinstance(edited, Edited):
                edited = succeeded(edit, edited, subject)
            if isinstance(edited, NotEdited):
                self.skip(zoom, edit, f"{subject.name}: {edited.reason}")
            else:
                edited_of[edit] = edited
        return edited_of

    def _placebos(self, zoom: Zoom, subject: Subject, real: Edited) -> list[Edited]:
        placebos = self.maker.placebos(zoom, subject, real, self.placebos) if "placebo" in self.edits else []
        for placebo in placebos:
            if isinstance(placebo, NotEdited):
                self.skip(zoom, "placebo", placebo.reason)
        return [placebo for placebo in placebos if isinstance(placebo, Edited)]

    def _outcome(
        self,
        zoom: Zoom,
        subject: Subject,
        edit: Edit,
        edited: Edited,
        before: Continuation,
        after: Continuation,
        moved: float,
    ) -> EditOutcome:
        was, now = before.claims(subject), after.claims(subject)
        if edit == "placebo":
            followed = (was is True) != (now is True) or before.verdict != after.verdict
        elif edit == "inject":
            followed = now is True
            if was is None and now is None:
                against = subject.feature is not None and subject.feature.role == "confuser"
                followed = _verdict_moved(-1.0 if against else 1.0, before, after, moved)
        else:
            followed = now is not True
        return self._recorded(zoom, edit, subject.name, edited, before, after, (was is True, now is True, followed))

    def _recorded(
        self,
        zoom: Zoom,
        edit: Edit,
        subject: str,
        edited: Edited | EditedSky,
        before: Continuation,
        after: Continuation,
        claimed: tuple[bool, bool, bool],
    ) -> EditOutcome:
        """:param claimed: whether the text claims it before the edit, and after it, and whether it followed"""
        frame, _ = frame_of(self.spectrum)
        return EditOutcome(
            step=zoom.id,
            edit=edit,
            subject=subject,
            window=edited.window if isinstance(edited, Edited) else None,
            frame=frame,
            medium=self.spectrum.medium,
            energy=edited.energy,
            verdict_before=before.verdict,
            verdict_after=after.verdict,
            score_before=before.score,
            score_after=after.score,
            claimed_before=claimed[0],
            claimed_after=claimed[1],
            followed=claimed[2],
            text_after=after.text,
            text_before=before.text,
        )

    def sky_call(self, zoom: Zoom, begin: Sequence[str]) -> list[EditOutcome]:
        """Test a call of ``sky_context``."""
        sky = self.sky
        real = NotEdited(deferred("the policy has no records")) if sky is None else swap(sky, self.spectrum, self.task)
        if sky is None or isinstance(real, NotEdited) or "swap" not in self.edits:
            if isinstance(real, NotEdited):
                self.skip(zoom, "swap", real.reason)
            return []
        before = self._continued(self.spectrum, begin)
        edits: list[tuple[Edit, EditedSky]] = []
        for number in range(self.placebos if "sky_placebo" in self.edits else 0):
            elsewhere = sky_placebo(sky, self.spectrum, real, self.maker.rng(zoom, "sky_placebo", number))
            if isinstance(elsewhere, NotEdited):
                self.skip(zoom, "sky_placebo", elsewhere.reason)
                break
            edits.append(("sky_placebo", elsewhere))
        outcomes, moved = [], 0.0
        for edit, edited in (*edits, ("swap", real)):
            after = self._continued(self.spectrum, begin, edited.sky)
            was, now = (states_magnitude(text.whole, edited.before) is True for text in (before, after))
            if edit == "sky_placebo":
                changed = magnitudes_stated(before.whole) != magnitudes_stated(after.whole)
                followed = changed or before.verdict != after.verdict
                if before.score is not None and after.score is not None:
                    moved = max(moved, abs(after.score - before.score))
            elif (stated := states_magnitude(after.whole, edited.after)) is None:
                followed = _verdict_moved(edited.side, before, after, moved)
            else:
                followed = stated and not now
            outcomes.append(self._recorded(zoom, edit, "M_G", edited, before, after, (was, now, followed)))
        return outcomes

    def _continued(self, spectrum: Spectrum, begin: Sequence[str], sky: Sky | None = None) -> Continuation:
        """Continue from the turn after ``begin``. :raises PolicyError: the policy cannot continue"""
        thoughts: dict[int, str] = {}
        text, explanation = "", ""
        verdict: Verdict | None = None
        score: float | None = None
        for event in inspect(
            spectrum, self.task, self.policy, self.max_turns, self.stop, begin=begin, sky=sky or self.sky
        ):
            match event:
                case Text():
                    text += event.text
                case Thought() if event.turn > len(begin):
                    thoughts[event.turn] = event.think.text
                case Answered():
                    verdict, score, explanation = event.answer.verdict, event.answer.score, event.answer.explanation
                case Ended(reason="stopped"):
                    raise TrialStopped
                case Ended(reason="policy failed"):
                    raise PolicyError(event.detail)
        first = thoughts.pop(len(begin) + 1, "")
        return Continuation(first, "\n".join([*thoughts.values(), explanation]), text, verdict, score)


def _verdict_moved(side: float, before: Continuation, after: Continuation, least: float) -> bool:
    """Return whether an edit moved the answer to a side, +1 for YES, by more than ``least``; 0: to any side."""
    if before.score is not None and after.score is not None:
        return (side or math.copysign(1.0, after.score - before.score)) * (after.score - before.score) > max(
            least, 1e-9
        )
    return before.verdict != after.verdict and (not side or after.verdict == ("YES" if side > 0 else "NO"))


def _max_turns(trajectory: Trajectory) -> int:
    turns = trajectory.drafter.settings.get("max_turns")
    return turns if isinstance(turns, int) and turns > 0 else MAX_TURNS
