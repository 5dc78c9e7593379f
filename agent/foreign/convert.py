"""Make a trajectory of what another agent's log says.

Steps of our tools are drawn again: equal pixels give the step its window, other pixels and other tools stay as they
came. What does not fit into a trajectory is one of its faults; nothing is left out without one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePosixPath
from typing import Any

from agent import tool
from agent.foreign.messages import text
from agent.foreign.own import restored
from agent.foreign.record import Call, ForeignTrace, ForeignTraceError, Result, Words
from agent.foreign.secrets import scrubbed
from agent.language import tr
from agent.plot import pixels_sha256, png_bytes
from agent.plot.decoding import PictureError, decoded
from agent.spectrum import Spectrum
from agent.tasks import Task, find
from agent.tool import MEASURE, SKY_CONTEXT, TOOL_NAME
from agent.trajectory import Answer, Drafter, Step, Think, Trajectory, Verdict, Zoom, parse
from agent.trajectory.from_inspection import from_inspection
from agent.trajectory.steps import log_odds

FindSpectrum = Callable[[str | None, str], Spectrum | None]
"""Returns the spectrum with this SHA-256, or, if it is None, with this name; None if there is none."""
OPEN, SUBMIT, QUEUE = "open_spectrum", "submit_verdict", "queue"
"""Tools of our server besides those that give steps."""
_OURS = (TOOL_NAME, MEASURE, SKY_CONTEXT, OPEN, SUBMIT, QUEUE)
_PLUMBING = ("handle", "reasoning")
"""Arguments of our server that a step does not keep."""
_LINE = re.compile(r"^(handle|spectrum|sha256): *(.*?) *$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,7}(?:\.\d{1,12})?(?![\w.])")
_MOST_NUMBERS = 8
_MOST_NAMES = 200
_LONGEST = 2000
"""Characters of a text that is quoted in a fault."""


@dataclass(frozen=True)
class Converted:
    """A trace of another agent as a trajectory, with its spectrum and the pictures that cannot be drawn again: PNG
    files by the SHA-256 of their RGBA bytes.
    """

    trajectory: Trajectory
    spectrum: Spectrum | None
    pictures: Mapping[str, bytes]


class Converter:
    """Converts traces into trajectories.

    :param known_tasks: the tasks by key
    :param find_spectrum: where spectra are
    :param task: key of the task of all traces that do not say theirs as an export of ours does; None: as each says
    """

    def __init__(self, known_tasks: Mapping[str, Task], find_spectrum: FindSpectrum, task: str | None = None) -> None:
        self._tasks = known_tasks
        self._find = find_spectrum
        self._task = task

    def convert(self, trace: ForeignTrace) -> Converted:
        """Return the trajectory of a trace of one spectrum.

        :raises ForeignTraceError: the task or the spectrum is missing: what was found, and what to give
        """
        trace = scrubbed(trace)
        pictures = _Pictures()
        trajectory = restored(trace.own, trace.events, pictures.sha256) if trace.own else None
        if trajectory is not None:
            return self._ours(
                replace(trajectory, faults=tuple(dict.fromkeys(trajectory.faults + trace.faults))), pictures
            )
        log = _Conversion(trace, pictures)
        return log.result(self._task_of(log), self._spectrum_of(log))

    def _ours(self, trajectory: Trajectory, pictures: _Pictures) -> Converted:
        spectrum = self._find(trajectory.spectrum_sha256, trajectory.spectrum_name)
        drawn: set[str | None] = set()
        if spectrum is not None:
            seen = replace(spectrum, redshift=trajectory.redshift)
            drawn = {pixels_sha256(tool.overview(seen))}
            drawn |= {tool.call(seen, dict(zoom.arguments)).picture for zoom in trajectory.zooms if zoom.shows_spectrum}
        kept = pictures.png([sha256 for sha256 in trajectory.pictures if sha256 not in drawn])
        missing = [sha256 for sha256 in trajectory.pictures if sha256 not in drawn and sha256 not in kept]
        if spectrum is None and missing:
            raise _no_spectrum(trajectory.spectrum_name)
        return Converted(trajectory, spectrum, kept)

    def _task_of(self, log: _Conversion) -> Task:
        submitted = (str(call.arguments.get("task") or "") for call, _ in log.calls_of(SUBMIT))
        named = [name for name in (self._task, *submitted) if name]
        prompts = {task.prompt.strip(): key for key, task in self._tasks.items()}
        shown = [prompts.get(item.text.strip(), "") for item in log.items if isinstance(item, Words)]
        for name in (*named, *filter(None, shown)):
            if (task := find(self._tasks, name)) is not None:
                return task
        names = ", ".join(self._tasks)
        if named:
            raise ForeignTraceError(
                tr("found task {task!r:.60}, expected one of {names}; give it with --task", task=named[0], names=names)
            )
        raise ForeignTraceError(tr("found no task in the log, expected --task with one of {names}", names=names))

    def _spectrum_of(self, log: _Conversion) -> Spectrum:
        """Return the spectrum that the log names. :raises ForeignTraceError: it names none, or none that is here"""
        opened = [stated(result.text) for _, result in log.calls_of(OPEN) if result is not None]
        if lines := next((lines for lines in opened if lines.get("sha256")), {}):
            names, sha256 = [lines.get("spectrum") or lines["sha256"]], lines["sha256"]
        else:
            names, sha256 = [lines["spectrum"] for lines in opened if lines.get("spectrum")], None
            names += [name for call, _ in log.calls for name in _file_names(call.arguments)]
        for name in list(dict.fromkeys(names))[:_MOST_NAMES]:
            if (spectrum := self._find(sha256, name)) is not None:
                return spectrum
        if not names:
            raise ForeignTraceError(
                tr("found no name of a spectrum in the calls of the log, expected one that --spectra DIR has")
            )
        raise _no_spectrum(names[0])


def _no_spectrum(name: str) -> ForeignTraceError:
    return ForeignTraceError(
        tr(
            "found no spectrum {name!r:.200} in the database; add its file to the import, or give its folder: "
            "--spectra DIR",
            name=name,
        )
    )


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers in arguments."""
    if isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner)
    else:
        yield value


def _file_names(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the last parts of the texts in arguments that may be names of files."""
    for value in _leaves(arguments):
        if isinstance(value, str) and 0 < len(value) <= 1000 and "\n" not in value:
            name = PurePosixPath(value.replace("\\", "/")).name
            if "." in name[1:]:
                yield name


def stated(result: str) -> dict[str, str]:
    """Return what the result of ``open_spectrum`` states: handle, spectrum and sha256."""
    return dict(_LINE.findall(result))


def own_name(name: str) -> str:
    """Return which tool of ours a name in a log means, behind a client's prefix; "" if it is another's."""
    for ours in _OURS:
        before = name.removesuffix(ours)
        if before != name or name == ours:
            is_ours = not before or before.endswith(("__", ".", "/", ":"))
            if is_ours or (before.endswith(("_", "-")) and re.search(r"spec[-_]?o3", before, re.IGNORECASE)):
                return ours
    return ""


class _Pictures:
    """The pictures of a log, by the SHA-256 of their RGBA bytes."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def sha256(self, data: bytes) -> str | None:
        """Return the hash of a picture; None if the bytes are none that can be used."""
        try:
            sha256 = pixels_sha256(decoded("", data))
        except PictureError:
            return None
        self._files[sha256] = data
        return sha256

    def png(self, hashes: Sequence[str | None]) -> dict[str, bytes]:
        """Return those of these pictures that the log has, as PNG files without metadata."""
        return {
            sha256: png_bytes(decoded("", self._files[sha256]))
            for sha256 in hashes
            if sha256 is not None and sha256 in self._files
        }


_Called = tuple[Call, Result | None]


class _Conversion:
    """The conversion of a log of another agent, step by step.

    :ivar items: its words, and its calls with their results
    """

    def __init__(self, trace: ForeignTrace, pictures: _Pictures) -> None:
        self._trace = trace
        self._files = pictures
        self._faults = list(trace.faults)
        self._steps: list[Step] = []
        self.items: list[Words | _Called] = []
        if trace.own:
            self._faults.append("the log was changed after its export; it was read as another agent's")
        results: dict[str, list[Result]] = defaultdict(list)
        for event in trace.events:
            if isinstance(event, Result):
                results[event.call_id].append(event)
        for event in trace.events:
            if isinstance(event, Words):
                self.items.append(event)
            elif isinstance(event, Call):
                self.items.append((event, results[event.id].pop(0) if results[event.id] else None))
        for result in (result for waiting in results.values() for result in waiting):
            having = f" with {len(result.pictures)} pictures" if result.pictures else ""
            self._faults.append(f"a result without a call{having}: {_quoted(result.text)}")

    @property
    def calls(self) -> list[_Called]:
        return [item for item in self.items if not isinstance(item, Words)]

    def calls_of(self, name: str) -> list[_Called]:
        """Return the calls of a tool of ours."""
        return [(call, result) for call, result in self.calls if own_name(call.name) == name]

    def result(self, task: Task, spectrum: Spectrum) -> Converted:
        """Return the trajectory."""
        first = next((n for n, item in enumerate(self.items) if _is_the_agents(item)), len(self.items))
        opening = [item for item in self.items[:first] if isinstance(item, Words)]
        system = [words.text for words in opening if words.role == "system"]
        prompt = "\n\n".join(words.text for words in opening if words.role == "user" and words.text.strip())
        shown = [words.pictures for words in opening]
        shown += [result.pictures for _, result in self.calls_of(OPEN) if result is not None]
        self._shown = [sha256 for pictures in shown for sha256 in self._hashes(pictures)]
        self._rest = self.items[first:]
        # The tool draws in the rest frame if a redshift is given: the one with which more pictures are ours.
        redshifts = dict.fromkeys([spectrum.redshift, None])
        self._seen = max((replace(spectrum, redshift=redshift) for redshift in redshifts), key=self._ours_of)
        answered = self._answer_at()
        for number, item in enumerate(self._rest):
            if number == answered:
                continue
            if isinstance(item, Words):
                self._words(item, after=answered is not None and number > answered)
            else:
                self._call(*item)
        if answered is not None:
            self._answer(self._rest[answered])
        else:
            self._faults.append("no answer was found in the log")
        trace, ours = self._trace, pixels_sha256(tool.overview(self._seen))
        settings: dict[str, Any] = {"agent": trace.agent, "format": trace.format, "log": trace.name}
        if any(isinstance(step, Zoom) and step.measures for step in self._steps):
            settings[MEASURE] = True
        if prompt.strip() != task.prompt.strip():
            settings["prompt_source"] = "row"
        overview = self._overview(ours)
        trajectory = from_inspection(
            spectrum,
            task,
            [replace(step, id=f"s{number}") for number, step in enumerate(self._steps, start=1)],
            Drafter("model", trace.model or trace.agent or "unknown", settings),
            prompt=prompt,
            system="\n\n".join(system),
            redshift=self._seen.redshift,
            overview=overview,
            label=trace.label,
            label_source=trace.format if trace.label else "",
            faults=tuple(self._faults),
        )
        drawn = {zoom.picture for zoom in trajectory.zooms if zoom.shows_spectrum} | {ours}
        return Converted(trajectory, spectrum, self._files.png([s for s in trajectory.pictures if s not in drawn]))

    def _hashes(self, pictures: Sequence[bytes]) -> list[str]:
        hashes = [self._files.sha256(data) for data in pictures]
        if None in hashes:
            self._faults.append(f"{hashes.count(None)} of {len(hashes)} pictures of a message cannot be read")
        return [sha256 for sha256 in hashes if sha256 is not None]

    def _ours_of(self, seen: Spectrum) -> int:
        """Return how many pictures of the log are what our tool draws of the spectrum with this redshift."""
        calls = [(call, result) for call, result in self.calls_of(TOOL_NAME) if result and result.pictures]
        drawn = [(tool.call(seen, _step_arguments(call)).picture, result) for call, result in calls]
        ours = [picture in map(self._files.sha256, result.pictures) for picture, result in drawn if result]
        return sum(ours) + (pixels_sha256(tool.overview(seen)) in self._shown)

    def _overview(self, ours: str) -> str:
        """Return which picture is that of the whole spectrum: ours if the log has it, or has none."""
        others = list(dict.fromkeys(sha256 for sha256 in self._shown if sha256 != ours))
        if not self._shown:
            self._faults.append("the log has no picture of the whole spectrum: it was drawn again")
        elif ours not in self._shown:
            ours = others.pop(0)
            self._faults.append("the first picture is not the one that our tool draws of the spectrum")
        if others:
            self._faults.append(f"{len(others)} more pictures before the first step were left out")
        return ours

    def _think(self, thought: object) -> None:
        if words := text(thought).strip():
            self._steps.append(Think("", words))

    def _reason(self, reasoning: object) -> None:
        """Add the reasoning that a call states; once if the agent wrote it before the call, too: the longer text."""
        start = len(self._steps)
        while start and isinstance(self._steps[start - 1], Think):
            start -= 1
        reason = _folded(text(reasoning))
        thoughts = [step for step in self._steps[start:] if isinstance(step, Think)]
        if not any(reason in _folded(step.text) for step in thoughts):
            self._steps[start:] = [step for step in thoughts if _folded(step.text) not in reason]
            self._think(reasoning)

    def _words(self, words: Words, after: bool) -> None:
        if words.role == "assistant" and not after:
            self._think(words.text)
        elif words.text.strip():
            who = {"system": "the program", "user": "the user", "assistant": "after its answer the agent"}[words.role]
            self._faults.append(f"{who} wrote: {_quoted(words.text)}")
        if words.pictures:
            self._faults.append(f"{len(words.pictures)} pictures of the {words.role} were left out")

    def _call(self, call: Call, result: Result | None) -> None:
        name = own_name(call.name)
        if name:
            self._reason(call.arguments.get("reasoning"))
        if name == SUBMIT:
            self._faults.append(f"an earlier verdict: {call.arguments.get('verdict')!s:.20}")
        elif name not in (OPEN, QUEUE):
            self._zoom(name, call, result)

    def _zoom(self, name: str, call: Call, result: Result | None) -> None:
        if result is None:
            self._faults.append(f"a call of {call.name!r:.60} has no result")
            result = Result(call.id, "", ok=False)
        pictures = self._hashes(result.pictures)
        frame, z = tool.frame_of(self._seen)
        zoom = Zoom("", _step_arguments(call) if name else dict(call.arguments), frame, z, self._seen.medium)
        zoom = replace(zoom, observation=result.text, ok=result.ok, tool=_foreign_name(call.name))
        if name == MEASURE and {"feature", "wavelength"} & zoom.arguments.keys():
            zoom = replace(zoom, tool=MEASURE)
        elif name == SKY_CONTEXT and (pictures or not result.ok):
            zoom = replace(zoom, tool=SKY_CONTEXT, picture=pictures.pop(0) if pictures else None)
        elif name == TOOL_NAME and not pictures:
            zoom = self._not_shown(zoom)
        elif pictures:
            windows = [zoom.arguments] if name == TOOL_NAME else _windows(call.arguments)
            zoom = self._shown_window(zoom, windows, pictures)
        self._steps.append(zoom)
        for number, picture in enumerate(pictures, start=2):
            self._faults.append(f"a result of {call.name!r:.60} has several pictures: each is a step")
            self._steps.append(
                replace(zoom, tool=f"{call.name or 'tool'} (picture {number})", picture=picture, ok=True)
            )

    def _not_shown(self, zoom: Zoom) -> Zoom:
        """Return a step of our tool whose picture the log lacks: drawn again if its text says that there was one."""
        seen = tool.call(self._seen, dict(zoom.arguments))
        words = zoom.observation.strip()
        if seen.image is None or not zoom.ok or (words and seen.text not in words):
            return replace(zoom, tool=TOOL_NAME, ok=False)
        self._faults.append(f"the log lacks the picture of {seen.text!r:.120}: it was drawn again")
        return replace(zoom, tool=TOOL_NAME, picture=seen.picture, observation=zoom.observation or seen.text)

    def _shown_window(self, zoom: Zoom, windows: Sequence[Mapping[str, Any]], pictures: list[str]) -> Zoom:
        """Return a step with a picture: of our tool if the picture is ours for a window, else as it came. The picture
        is taken out of ``pictures``."""
        for arguments in windows:
            seen = tool.call(self._seen, dict(arguments))
            if seen.picture in pictures:
                pictures.remove(seen.picture)
                if arguments is not zoom.arguments:
                    self._faults.append(f"a picture of {zoom.tool!r:.60} is the one that our tool draws")
                ours = replace(zoom, arguments=arguments, tool=TOOL_NAME, picture=seen.picture, ok=True)
                return replace(ours, observation=zoom.observation or seen.text)
        return replace(zoom, picture=pictures.pop(0))

    def _answer_at(self) -> int | None:
        """Return which item is the answer: the last verdict that was submitted, else the last text with one."""
        submitted = [
            (number, item[1] is not None and item[1].ok)
            for number, item in enumerate(self._rest)
            if not isinstance(item, Words) and own_name(item[0].name) == SUBMIT
        ]
        if submitted:
            return max(submitted, key=lambda verdict: (verdict[1], verdict[0]))[0]
        for number, item in reversed(list(enumerate(self._rest))):
            if not isinstance(item, Words):
                return None
            if item.role == "assistant" and not item.is_thought and parse(item.text).answer is not None:
                return number
        return None

    def _answer(self, item: Words | _Called) -> None:
        if isinstance(item, Words):
            turn = parse(item.text)
            self._think(turn.thought)
            assert turn.answer is not None
            self._steps.append(Answer("", turn.answer.verdict, turn.answer.explanation))
            return
        call, result = item
        if result is None or not result.ok:
            self._faults.append(f"the verdict was not accepted: {_quoted(result.text if result else '')}")
        self._reason(call.arguments.get("reasoning"))
        given, explanation = call.arguments.get("verdict"), text(call.arguments.get("explanation"))
        verdict: Verdict | None = "YES" if given == "YES" else "NO" if given == "NO" else None
        self._steps.append(Answer("", verdict, explanation, log_odds(verdict, call.arguments.get("confidence"))))


def _folded(words: str) -> str:
    return " ".join(words.split())


def _is_the_agents(item: Words | _Called) -> bool:
    return not isinstance(item, Words) or item.role == "assistant"


def _step_arguments(call: Call) -> dict[str, Any]:
    return {key: value for key, value in call.arguments.items() if key not in _PLUMBING}


def _foreign_name(name: str) -> str:
    """Return the name of a tool whose answer is kept as it came; never one that names a tool of ours."""
    return f"{name} (other pixels)" if name in tool.TOOLS else name or "(no name)"


def _windows(arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the calls of our tool that may have drawn a picture: the full spectrum, and any two increasing numbers
    in the arguments, in Å."""
    numbers: list[float] = []
    for value in _leaves(arguments):
        if isinstance(value, str):
            numbers += map(float, _NUMBER.findall(value[:_LONGEST]))
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e7:
            numbers.append(value)
    pairs = combinations(dict.fromkeys(numbers[:_MOST_NUMBERS]), 2)
    return [{}, *({"wavelength_range": [lo, hi]} for lo, hi in pairs if lo < hi)]


def _quoted(words: str) -> str:
    cut = f" (and {len(words) - _LONGEST:,} more characters)" if len(words) > _LONGEST else ""
    return f"{words.strip()[:_LONGEST]}{cut}"
