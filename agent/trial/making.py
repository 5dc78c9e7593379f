"""Make the edits of a tool call, for a trial and again from a recorded one, e.g. to draw the edited window.

The noise depends on the seed of the trial, the kind of edit and the id of the tool call only, so it can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent.hints.claims import claims_of
from agent.language import deferred
from agent.lines import Line, Medium, lines
from agent.measure import Window, rest
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Think, Trajectory, Zoom
from agent.trial import edits as make
from agent.trial.edits import Edited, NotEdited
from agent.trial.report import EDITS, Edit, EditOutcome, Trial, TrialError
from agent.trial.subjects import Subject, is_there, subject_of
from agent.trial.typical import typical_of

NEAR_A_LINE = 0.002  # of the wavelength, on either side of a major line: no place for a placebo
_NUMBER = {edit: number for number, edit in enumerate(EDITS)}
_SAME = 1e-6  # relative difference of two energies below which an edit is the same


class Maker:
    """The edits of one spectrum for one task.

    :param seed: of the noise of replaced pixels
    :param named: stretches of the lines that the trace speaks of, where no placebo belongs (``lines_named``)
    """

    def __init__(self, spectrum: Spectrum, task: Task, seed: int, named: Sequence[Window]) -> None:
        self.at_rest = rest(spectrum)
        self._spectrum = spectrum
        self._task = task
        self._seed = seed
        self._named = named

    def edit(self, edit: Edit, zoom: Zoom, subject: Subject) -> Edited | NotEdited:
        """Make an edit other than a placebo."""
        rng = self.rng(zoom, edit)
        if edit == "inject":
            typical = typical_of(subject, self._task.key)
            return make.inject(self._spectrum, self.at_rest, subject, typical, rng)
        function = {"remove": make.remove, "flip": make.flip, "shift": make.shift}[edit]
        return function(self._spectrum, self.at_rest, subject, rng)

    def placebos(self, zoom: Zoom, subject: Subject, real: Edited, count: int) -> list[Edited | NotEdited]:
        """Make placebos of the energy of another edit, at different places, up to the first that cannot be made."""
        window = seen_by(zoom, subject)
        placebos: list[Edited | NotEdited] = []
        avoid = [*avoided(self.at_rest, self._task), *self._named, real.window, subject.span, *subject.side_bands]
        for number in range(count):
            rng = self.rng(zoom, "placebo", number)
            edited = make.placebo(self._spectrum, self.at_rest, real, window, avoid, rng)
            placebos.append(edited)
            if isinstance(edited, NotEdited):
                break
            avoid.append(edited.window)
        return placebos

    def rng(self, zoom: Zoom, edit: Edit, number: int = 0) -> np.random.Generator:
        """Return the generator of an edit."""
        return np.random.default_rng([self._seed, _NUMBER[edit], number, *zoom.id.encode()])


def seen_by(zoom: Zoom, subject: Subject) -> Window:
    """Return the stretch that a call shows: its window, or where ``measure`` takes a line and its continuum from."""
    if zoom.window is not None:
        return zoom.window
    stretches = (subject.span, *subject.side_bands)
    return min(lo for lo, _ in stretches), max(hi for _, hi in stretches)


def avoided(at_rest: Spectrum, task: Task) -> list[Window]:
    """Return where no placebo belongs: the stretches where the task measures, and those of the major lines.

    :param at_rest: the spectrum at rest (``agent.measure.rest``)
    """
    medium = at_rest.medium
    windows: list[Window] = []
    for feature in (f.in_medium(medium) for f in task.features):
        windows += feature.side_bands
        # A slope is measured over too wide a stretch to be avoided, and one line hardly changes it.
        if feature.kind != "slope" or feature.quantity == "roughness":
            windows.append(feature.span)
    return [*windows, *(_near(line, medium) for line in lines() if line.major)]


def lines_named(trajectory: Trajectory, medium: Medium) -> list[Window]:
    """Return the stretches of the lines that the thoughts and the explanation of a trace claim or deny.

    A change there could truly alter what is written about them, so no placebo belongs there.
    """
    texts = [step.text for step in trajectory.steps if isinstance(step, Think)]
    if trajectory.answer is not None:
        texts.append(trajectory.answer.explanation)
    named = {claim.subject for text in texts for claim in claims_of(text)}
    return [_near(line, medium) for line in lines() if line.name in named]


def _near(line: Line, medium: Medium) -> Window:
    return line.at(medium) * (1 - NEAR_A_LINE), line.at(medium) * (1 + NEAR_A_LINE)


def succeeded(edit: Edit, edited: Edited, subject: Subject) -> Edited | NotEdited:
    """Return the edit if the spectrum after it shows what it should; otherwise nothing can be concluded from it."""
    is_shown = is_there(subject, rest(edited.spectrum))
    if edit == "inject":
        return NotEdited(deferred("the spectrum does not show it after the injection")) if is_shown is False else edited
    return NotEdited(_AFTER[edit]) if is_shown else edited


_AFTER: dict[Edit, str] = {
    "remove": deferred("the spectrum still shows it after the removal"),
    "flip": deferred("the spectrum still shows it after the flip"),
    "shift": deferred("the spectrum still shows it after the shift"),
}


def thought_after(trajectory: Trajectory, zoom: Zoom) -> str:
    """Return the thoughts of the turn after a tool call, "" without one."""
    turns = list(trajectory.turns())
    at = next(number for number, turn in enumerate(turns) if turn[-1] is zoom or turn[-1].id == zoom.id)
    following = turns[at + 1] if at + 1 < len(turns) else ()
    return " ".join(step.text for step in following if isinstance(step, Think))


def edited_again(
    tried: Trial, number: int, trajectory: Trajectory, spectrum: Spectrum, task: Task
) -> tuple[Zoom, Edited]:
    """Repeat an edit of a recorded trial; return the tool call and the edited spectrum.

    :param number: of the outcome
    :raises TrialError: there is no such outcome, or the edit made here is another one than the recorded one
    """
    if not 0 <= number < len(tried.outcomes):
        raise TrialError(
            deferred(
                "outcome: found {number}, expected a number below {n_outcomes}",
                number=number,
                n_outcomes=len(tried.outcomes),
            )
        )
    outcome = tried.outcomes[number]
    zoom = next((zoom for zoom in trajectory.zooms if zoom.id == outcome.step), None)
    maker = Maker(spectrum, task, tried.seed, lines_named(trajectory, spectrum.medium))
    subject = None
    if zoom is not None and outcome.edit not in ("swap", "sky_placebo"):
        subject = subject_of(zoom, thought_after(trajectory, zoom), maker.at_rest, task)
    if zoom is None or subject is None:
        raise TrialError(
            deferred(
                "step {step}: found no line or band to edit, expected {subject}",
                step=outcome.step,
                subject=outcome.subject,
            )
        )
    edited = _edited(maker, tried, outcome, zoom, subject)
    if isinstance(edited, NotEdited) or abs(edited.energy - outcome.energy) > _SAME * outcome.energy:
        edited_spectrum = (
            edited.reason
            if isinstance(edited, NotEdited)
            else deferred("an edit of energy {energy:.6g}", energy=edited.energy)
        )
        raise TrialError(
            deferred(
                "{edit} of {subject} made again: found {found}, expected the energy {energy:.6g} of the "
                "trial. The task or the program has changed since; run the trial again.",
                edit=outcome.edit,
                subject=outcome.subject,
                found=edited_spectrum,
                energy=outcome.energy,
            )
        )
    return zoom, edited


def _edited(maker: Maker, tried: Trial, outcome: EditOutcome, zoom: Zoom, subject: Subject) -> Edited | NotEdited:
    if outcome.edit != "placebo":
        return maker.edit(outcome.edit, zoom, subject)
    of_call = [outcome for outcome in tried.outcomes if outcome.step == zoom.id]
    first = next((outcome_of_call for outcome_of_call in of_call if outcome_of_call.edit != "placebo"), None)
    real = (
        NotEdited(deferred("no other edit of the tool call"))
        if first is None
        else maker.edit(first.edit, zoom, subject)
    )
    if isinstance(real, NotEdited):
        return real
    placebos = [outcome_of_call for outcome_of_call in of_call if outcome_of_call.edit == "placebo"]
    return maker.placebos(zoom, subject, real, len(placebos))[placebos.index(outcome)]
