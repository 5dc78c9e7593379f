"""Approved traces as in-context examples for models with tool calls of their own.

Which traces are shown, and in which order, depends on the task and the hashes of the traces: never on the label, the
answer or the data of the spectrum that is inspected. Only an example of the same object gives way to the next one with
the same answer, so that neither their number nor their order says anything about the spectrum.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from agent import tool
from agent.conversation import Conversation, Exchange, PolicyError
from agent.json_lines import JournalError, json_lines
from agent.language import deferred
from agent.plot import pixels_sha256
from agent.policies import EXAMPLES, EXAMPLES_BUDGET
from agent.policies.giveaways import mentions_label
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.names import file_key
from agent.spectrum.objects import Identity, identity_of, objects
from agent.trajectory import Trajectory, TrajectoryError, Zoom
from agent.trajectory.statements import text_of_step
from agent.trajectory.steps import Verdict
from agent.trajectory.tags import turn_text

MANIFEST, TRAJECTORIES = "manifest.json", "trajectories.jsonl"
SEVERAL = 5  # left-out traces in a message


@dataclass(frozen=True)
class Shown:
    """An example as a model sees it: the full spectrum, the prompt, and all turns; the last one is the answer."""

    overview: Image.Image
    prompt: str
    exchanges: tuple[Exchange, ...]


class Candidate:
    """An approved trace that may be an example. Its pictures are read or drawn on first use, and checked.

    :param stored: files of its pictures, by the SHA-256 of their pixels
    """

    def __init__(self, trajectory: Trajectory, spectrum: Spectrum | None, stored: Mapping[str, Path]) -> None:
        self.key = trajectory.content_hash()
        self.trajectory = trajectory
        self.spectrum = spectrum
        self.stored = stored
        self.identity = _identity(spectrum) if spectrum is not None else Identity()

    @cached_property
    def shown(self) -> Shown | str:
        """The example, or why a picture is not there."""
        trajectory = self.trajectory
        if (overview := self._picture(trajectory.overview, {})) is None:
            return deferred("the picture of the full spectrum is not there, or has other pixels")
        exchanges = []
        for turn in trajectory.turns():
            last, observation = turn[-1], None
            if isinstance(last, Zoom):
                arguments = last.arguments if last.shows_spectrum else None
                image = self._picture(last.picture, arguments) if last.drawn else None
                if last.drawn and image is None:
                    return deferred("the picture of step {step} is not there, or has other pixels", step=last.id)
                window = last.window if last.drawn else None
                observation = tool.Observation(last.observation, image, last.ok, window, last.frame, last.z)
            exchanges.append(Exchange(turn_text(turn), observation))
        return Shown(overview, trajectory.prompt, tuple(exchanges))

    def _picture(self, sha256: str | None, arguments: Mapping[str, Any] | None) -> Image.Image | None:
        """Return a stored picture, or the one that the tool draws for these arguments; None: there is neither."""
        if sha256 is not None and sha256 in self.stored:
            try:
                with Image.open(self.stored[sha256], formats=("PNG",)) as opened:
                    image: Image.Image | None = opened.convert("RGBA")
            except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
                return None
        elif self.spectrum is not None and arguments is not None:
            image = tool.call(self.spectrum, dict(arguments)).image
        else:
            return None
        return image if image is not None and pixels_sha256(image) == sha256 else None


class Examples:
    """The examples of one export folder of ``spec-o3 export``, or of one file of JSON lines in its form.

    :param number: examples per conversation at most; equally many YES and NO, one more of either if it is odd
    :param pictures: pictures of all examples together at most: a trace with more than its share is not used
    :raises PolicyError: nothing can be read there, or a row is no trace
    """

    def __init__(self, path: Path, number: int = EXAMPLES, pictures: int = EXAMPLES_BUDGET) -> None:
        self.path, self.number, self.pictures = path, number, pictures
        self.left_out: dict[str, str] = {}
        """Why a trace is not used, by the name of its spectrum."""
        self._lock = threading.Lock()
        self._chosen: dict[tuple[str, frozenset[str], frozenset[str]], tuple[Candidate, ...]] = {}
        self.candidates = tuple(self._usable())
        # Each turn of a conversation comes here again.
        self._of_object = lru_cache(maxsize=256)(self._same_object)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.number, self.pictures)

    def settings(self) -> dict[str, Any]:
        """Return what a trace records: the numbers, and a hash of all traces of which they are chosen."""
        keys = "\n".join(candidate.key for candidate in self.candidates)
        return {
            "examples": self.number,
            "examples_budget": self.pictures,
            "examples_sha256": hashlib.sha256(keys.encode()).hexdigest(),
        }

    def of(self, conversation: Conversation) -> tuple[Shown, ...]:
        """Return the examples to show before a conversation."""
        offered = frozenset(name for name, offer in zip(tool.TOOLS, conversation.tools, strict=True) if offer)
        chosen = self.chosen(conversation.task.key, conversation.spectrum, offered)
        return tuple(shown for candidate in chosen if isinstance(shown := candidate.shown, Shown))

    def chosen(
        self, task: str, spectrum: Spectrum, offered: frozenset[str] = frozenset([tool.TOOL_NAME])
    ) -> tuple[Candidate, ...]:
        """Return the traces that are shown with a spectrum, the answers in turn.

        :param offered: the tools of the model; traces that used another one are not shown
        """
        with self._lock:
            # Few spectra have examples of their own: all others share one choice.
            key = task, self._of_object(_identity(spectrum), file_key(spectrum.name), spectrum.sha256), offered
            if key not in self._chosen:
                self._chosen[key] = tuple(self._choose(*key))
            return self._chosen[key]

    def has_object_of(self, spectrum: Spectrum) -> bool:
        """Return whether a usable trace is of the same spectrum, file or object."""
        return bool(self._of_object(_identity(spectrum), file_key(spectrum.name), spectrum.sha256))

    def _choose(self, task: str, of_object: frozenset[str], offered: frozenset[str]) -> Iterator[Candidate]:
        sides: dict[Verdict, list[Candidate]] = {"YES": [], "NO": []}
        first: Verdict | None = None
        most = (self.number + 1) // 2
        for candidate in self.candidates:
            trajectory = candidate.trajectory
            answer = trajectory.answer
            uses = {zoom.tool for zoom in trajectory.zooms}
            if trajectory.task != task or answer is None or answer.verdict is None or not uses <= offered:
                continue
            # Before objects are compared: the side that comes first must not depend on the spectrum.
            first = first or answer.verdict
            side = sides[answer.verdict]
            if len(side) == most or candidate.key in of_object:
                continue
            if isinstance(candidate.shown, str):
                self.left_out[trajectory.spectrum_name] = candidate.shown
            else:
                side.append(candidate)
        before, after = sorted(sides.values(), key=lambda side: side is not sides.get(first or "YES"))
        pairs = [candidate for pair in zip(before, after, strict=False) for candidate in pair]
        yield from (pairs + before[len(pairs) // 2 :][: self.number % 2])[: self.number]

    def _same_object(self, identity: Identity, file: str, sha256: str) -> frozenset[str]:
        """Return the keys of the traces on the same object, file or spectrum."""
        *groups, own = objects([*(candidate.identity for candidate in self.candidates), identity])
        return frozenset(
            candidate.key
            for candidate, group in zip(self.candidates, groups, strict=True)
            if group == own
            or candidate.trajectory.spectrum_sha256 == sha256
            or (file and file_key(candidate.trajectory.spectrum_name) == file)
        )

    def _usable(self) -> list[Candidate]:
        """Return the traces that may be shown, one per object and task, in the order of their hashes."""
        candidates = sorted(self._read(), key=lambda candidate: candidate.key)
        groups = objects([candidate.identity for candidate in candidates])
        kept, seen = [], set()
        for candidate, group in zip(candidates, groups.tolist(), strict=True):
            trajectory = candidate.trajectory
            place = trajectory.task, group if candidate.identity.is_known else trajectory.spectrum_sha256
            if why := self._unfit(trajectory):
                self.left_out[trajectory.spectrum_name] = why
            elif place not in seen:
                seen.add(place)
                kept.append(candidate)
        return kept

    def _unfit(self, trajectory: Trajectory) -> str:
        """Return why a trace cannot be an example, "" if it can."""
        if problems := trajectory.problems(pictures=False):
            return problems[0]
        answer = trajectory.answer
        if trajectory.label is not None and (answer is None or answer.verdict != trajectory.label):
            return deferred("its answer is not its label")
        texts = [text_of_step(step) or getattr(step, "label", "") for step in trajectory.steps]
        if words := next(filter(None, map(mentions_label, texts)), None):
            return deferred("its text reveals that the answer was known: {words!r}", words=words)
        share = self.pictures // max(1, self.number)
        if len(trajectory.pictures) > share:
            return deferred("{n} pictures, more than {share} per example", n=len(trajectory.pictures), share=share)
        return ""

    def _read(self) -> Iterator[Candidate]:
        path = self.path
        if path.is_dir():
            path = self.path / TRAJECTORIES
            if not (self.path / MANIFEST).is_file() or not path.is_file():
                text = deferred("{path}: found no complete export of `spec-o3 export`", path=self.path)
                raise PolicyError(text)
        try:
            for line in json_lines(path):
                yield _candidate(line.row, path.parent)
        except (JournalError, TrajectoryError, SpectrumError) as error:
            raise PolicyError(deferred("examples, {path}: {error}", path=path, error=str(error))) from error


def _candidate(row: Mapping[str, Any], folder: Path) -> Candidate:
    trajectory, data, named = Trajectory.from_json(row), row.get("spectrum_data"), row.get("pictures")
    spectrum = None
    if isinstance(data, Mapping):
        spectrum = replace(Spectrum.from_json(data), redshift=trajectory.redshift)
    files = named if isinstance(named, Mapping) else {}
    inside = {str(sha256): (folder / str(path)).resolve() for sha256, path in files.items()}
    root = folder.resolve()
    return Candidate(trajectory, spectrum, {s: path for s, path in inside.items() if path.is_relative_to(root)})


def _identity(spectrum: Spectrum) -> Identity:
    return identity_of(spectrum.name, spectrum.ids, spectrum.ra, spectrum.dec)
