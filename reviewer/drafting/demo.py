"""The demo: simulated spectra with drafts by the baseline, a few of them wrong on purpose.

Shown at the first start with an empty database. ``demo.json`` holds the drafts (``python -m reviewer.drafting.demo``
writes it again); spectra are simulated at each load, and a draft whose spectrum has another hash here is made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from agent import tool
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate, truth
from agent.simulate.sky import sky_of
from agent.sky.records import SkyRecord
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Trajectory, new_step_id
from agent.trajectory.steps import Answer, Step, Think, Zoom

FILE = Path(__file__).with_name("demo.json")
BATCH = "demo"

Mistake = Literal["hallucinated line", "wrong label", "flipped verdict", "wrong frame", "needless zoom"]


@dataclass(frozen=True)
class Recipe:
    """One demo item: a task, a simulated spectrum, and a deliberate mistake."""

    task: str
    kind: str
    survey: str
    snr: float
    seed: int
    redshift: float = 0.0
    mistake: Mistake | None = None

    def simulated(self) -> Spectrum:
        """Simulate it, with what it is in its meta and name."""
        return simulate(self.kind, self.survey, self.snr, self.seed, self.redshift)

    def spectrum(self) -> Spectrum:
        """Simulate it. Survey and meta say that it is simulated; nothing but the data says what it is."""
        return replace(
            self.simulated(), name=f"demo-{self.seed:04d}.fits", catalogue_class="", meta={"simulated": True}
        )


# The seeds give each state of a class and each similar class that is worth a discussion.
RECIPES = (
    Recipe("cv", "cv", "LAMOST", 25, 1),
    Recipe("cv", "cv", "SDSS", 18, 2),
    Recipe("cv", "cv", "DESI", 12, 3),
    Recipe("cv", "cv", "LAMOST", 8, 4, mistake="flipped verdict"),
    Recipe("cv", "dme", "LAMOST", 20, 5),
    Recipe("cv", "tts", "LAMOST", 30, 6),
    Recipe("cv", "qso", "SDSS", 15, 7),
    Recipe("cv", "hii", "DESI", 20, 8, redshift=0.031, mistake="wrong frame"),
    Recipe("cv", "be", "LAMOST", 60, 9),
    Recipe("cv", "wd", "SDSS", 22, 10, mistake="hallucinated line"),
    Recipe("cc", "cc", "LAMOST", 30, 11),
    Recipe("cc", "cc", "SDSS", 14, 12),
    Recipe("cc", "cc", "DESI", 25, 13, mistake="wrong label"),
    Recipe("cc", "gba", "LAMOST", 40, 14),
    Recipe("cc", "gm", "LAMOST", 30, 15),
    Recipe("cc", "wd", "SDSS", 25, 16),
    Recipe("cc", "fgk", "LAMOST", 35, 17, mistake="needless zoom"),
    Recipe("ss", "ss", "LAMOST", 35, 18),
    Recipe("ss", "ss", "SDSS", 20, 19),
    Recipe("ss", "gm", "LAMOST", 30, 20, mistake="hallucinated line"),
    Recipe("ss", "cc", "LAMOST", 25, 21),
    Recipe("gm", "gm", "LAMOST", 40, 22),
    Recipe("gm", "gm", "SDSS", 15, 23),
    Recipe("gm", "gm", "DESI", 20, 24),
    Recipe("gm", "dm", "LAMOST", 30, 25),
    Recipe("gm", "dm", "DESI", 15, 26, mistake="flipped verdict"),
    Recipe("gm", "dme", "SDSS", 20, 27),
    Recipe("gm", "ss", "LAMOST", 25, 28),
    Recipe("wd", "wd", "LAMOST", 20, 29),
    Recipe("wd", "wd", "SDSS", 12, 30),
    Recipe("wd", "wd", "DESI", 25, 31),
    Recipe("wd", "a", "LAMOST", 60, 32),
    Recipe("wd", "sd", "LAMOST", 30, 33),
    Recipe("wd", "sky", "SDSS", 1, 34),
    Recipe("o", "o", "LAMOST", 80, 35),
    Recipe("o", "b", "LAMOST", 70, 36),
    Recipe("b", "b", "LAMOST", 50, 37),
    Recipe("b", "sd", "SDSS", 30, 38, mistake="needless zoom"),
    Recipe("a", "a", "LAMOST", 60, 39),
    Recipe("a", "fgk", "LAMOST", 45, 40, mistake="wrong label"),
)

_CLAIMS: Mapping[str, str] = MappingProxyType(
    {
        "cv": "He II 4686 stands out in emission as well, equivalent width −7.4 ± 0.6 Å.",
        "ss": "The ZrO head at 6474 Å is plain, mean depth 0.31 ± 0.01 below the continuum.",
    }
)


def demo_items() -> Iterator[tuple[Spectrum, Trajectory]]:
    """Yield the demo's spectra and their drafts, in the order in which they are shown.

    :raises TrajectoryError: ``demo.json`` is damaged
    """
    shipped = json.loads(FILE.read_text(encoding="utf-8"))
    for recipe, data in zip(RECIPES, shipped, strict=True):
        spectrum = recipe.spectrum()
        trajectory = Trajectory.from_json(data)
        if trajectory.spectrum_sha256 != spectrum.sha256:
            trajectory = draft(recipe, spectrum)
        yield spectrum, trajectory


def demo_sky() -> Iterator[tuple[str, SkyRecord]]:
    """Yield the records of the demo's spectra, each with its spectrum's SHA-256."""
    for recipe in RECIPES:
        sha256 = recipe.spectrum().sha256
        yield from ((sha256, record) for record in sky_of(recipe.simulated()))


def planted() -> Mapping[str, Mistake]:
    """Return the deliberate mistakes by spectrum name. For tests and docs; reviewers do not see them."""
    return MappingProxyType({r.spectrum().name: r.mistake for r in RECIPES if r.mistake})


def draft(recipe: Recipe, spectrum: Spectrum) -> Trajectory:
    """Return the baseline's draft of one item, with its mistake."""
    trajectory = run(spectrum, load()[recipe.task], Baseline())
    trajectory = replace(trajectory, label=truth(recipe.kind, recipe.task), label_source="simulation")
    match recipe.mistake:
        case "hallucinated line":
            steps = _hallucinated(trajectory)
        case "wrong label":
            steps = _mislabelled(trajectory, spectrum)
        case "flipped verdict":
            steps = _flipped(trajectory)
        case "wrong frame":
            steps = _shifted(trajectory, spectrum)
        case "needless zoom":
            steps = _padded(trajectory, spectrum)
        case None:
            steps = trajectory.steps
    return trajectory.with_steps(steps)


def _hallucinated(trajectory: Trajectory) -> tuple[Step, ...]:
    """Add a claim about a line that is not there to the end of the second thought."""
    second = [s for s in trajectory.steps if isinstance(s, Think)][1]
    claim = replace(second, text=f"{second.text} {_CLAIMS[trajectory.task]}")
    return tuple(claim if s is second else s for s in trajectory.steps)


def _mislabelled(trajectory: Trajectory, spectrum: Spectrum) -> tuple[Step, ...]:
    """Give the first window the name of another line."""
    first = trajectory.zooms[0]
    wrong = _zoomed_again(first, spectrum, first.arguments["wavelength_range"], "Na I D 5890, 5896")
    return tuple(wrong if s is first else s for s in trajectory.steps)


def _flipped(trajectory: Trajectory) -> tuple[Step, ...]:
    """Change the verdict and keep the explanation."""

    def flipped(step: Step) -> Step:
        if not isinstance(step, Answer):
            return step
        return replace(step, verdict="NO" if step.verdict == "YES" else "YES")

    return tuple(flipped(s) for s in trajectory.steps)


def _shifted(trajectory: Trajectory, spectrum: Spectrum) -> tuple[Step, ...]:
    """Request the first window at observed wavelengths, although the tool expects rest wavelengths."""
    first = trajectory.zooms[0]
    assert first.window_observed is not None
    window = [round(x) for x in first.window_observed]
    wrong = _zoomed_again(first, spectrum, window, first.label)
    return tuple(wrong if s is first else s for s in trajectory.steps)


def _padded(trajectory: Trajectory, spectrum: Spectrum) -> tuple[Step, ...]:
    """Add a zoom on a window that has nothing to do with the question."""
    *before, thought, answer = trajectory.steps
    think = Think(new_step_id(trajectory.steps), "I also look at 6050 to 6120 Å, to be on the safe side.")
    zoom = replace(trajectory.zooms[0], id=new_step_id((*trajectory.steps, think)))
    extra = _zoomed_again(zoom, spectrum, [6050, 6120], "continuum")
    return (*before, think, extra, thought, answer)


def _zoomed_again(zoom: Zoom, spectrum: Spectrum, window: Sequence[float], label: str) -> Zoom:
    arguments = {"label": label, "wavelength_range": window}
    seen = tool.call(spectrum, arguments)
    return replace(zoom, arguments=arguments, observation=seen.text, ok=seen.ok, picture=seen.picture)


def main() -> None:
    """Draft every item again and write ``demo.json``, one trajectory per line."""
    drafts = (draft(recipe, recipe.spectrum()) for recipe in RECIPES)
    lines = [json.dumps(d.to_json(), ensure_ascii=False, sort_keys=True) for d in drafts]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"wrote {FILE.name}: {len(lines)} drafts, {len(planted())} of them wrong on purpose")


if __name__ == "__main__":
    main()
