"""Fuzz targets for spectrum files, trajectories and model output."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent.batch.journal import Journal
from agent.json_lines import JournalError
from agent.policies.native import Reply, assistant_message
from agent.policies.openai.stream import Delta, MalformedStream, ServerEvents, delta_of, parsed
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers import opened
from agent.trajectory import Trajectory, tags
from agent.trajectory.steps import TrajectoryError
from tests.soak.mutations import inside_gzip, spoiled_bytes, spoiled_fits, spoiled_json, spoiled_text
from tests.soak.trying import MOST_SPECTRA, DidNotHold, Target, Try, refused_by
from tests.support.inputs import spectra
from tests.support.inputs.model_output import streams, turns
from tests.support.inputs.rows import journals, json_or_none, specvi_files, trajectories
from tests.support.inputs.spectra import a_spectrum, seeds
from training.reward import score


def spectra_as_json() -> list[bytes]:
    return [json.dumps(a_spectrum().to_json()).encode()]


def _reader(name: str) -> Callable[[Path], Try]:
    """A spectrum file: each spectrum is read or refused, and one that was read can be written again."""

    def make(folder: Path) -> Try:
        # Imported before the first input, because the import takes seconds.
        with suppress(ImportError):
            import specutils  # noqa: F401

        def attempt(data: bytes) -> None:
            path = folder / name
            path.write_bytes(data)
            with refused_by(SpectrumError, where=folder), opened(path) as targets:
                for target in targets.names[:MOST_SPECTRA]:
                    with refused_by(SpectrumError, where=folder):
                        _fit_for_use(targets.read(target or None))

        return attempt

    return make


def _fit_for_use(spectrum: Spectrum) -> None:
    again_read = Spectrum.from_json(json.loads(json.dumps(spectrum.to_json(), allow_nan=False)))
    if again_read != spectrum:
        raise DidNotHold("a spectrum that its own JSON form does not give back")
    spectrum.sha256.encode()
    float(spectrum.snr_typical)


def _spectrum_json(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = json_or_none(data)
        if isinstance(value, dict):
            with refused_by(SpectrumError):
                _fit_for_use(Spectrum.from_json(value))

    return attempt


def _fits_files() -> list[bytes]:
    return [*seeds(spectra.FITS), *spectra.real_files(), *seeds(spectra.DAMAGED_FITS)]


def _parquet_files() -> list[bytes]:
    return [*seeds(spectra.PARQUET), *specvi_files(), *seeds(spectra.DAMAGED_PARQUET)]


SPECTRA = (
    Target("fits", _reader("x.fits"), _fits_files, spoiled_fits),
    Target(
        "fits.gz", _reader("x.fits.gz"), lambda: seeds(spectra.GZIP, spectra.DAMAGED_GZIP), inside_gzip(spoiled_fits)
    ),
    Target(
        "text",
        _reader("x.csv"),
        lambda: seeds(spectra.TEXT, spectra.JSON, spectra.XML, spectra.DAMAGED_TEXT),
        spoiled_text,
    ),
    Target("parquet", _reader("x.parquet"), _parquet_files, spoiled_bytes),
    Target("spectrum.json", _spectrum_json, spectra_as_json, spoiled_json),
)


def _trajectory(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = json_or_none(data)
        if isinstance(value, dict):
            with refused_by(TrajectoryError):
                _same_again(
                    Trajectory.from_sharegpt(value) if "conversations" in value else Trajectory.from_json(value)
                )

    return attempt


def _same_again(trajectory: Trajectory) -> None:
    text = json.dumps(trajectory.to_json(), allow_nan=False, ensure_ascii=False).encode()
    if Trajectory.from_json(json.loads(text)) != trajectory:
        raise DidNotHold("a trajectory that its own JSON form does not give back")
    trajectory.content_hash()
    trajectory.problems()
    trajectory.to_messages()
    for zoom in trajectory.zooms:
        assert zoom.window_observed is None or len(zoom.window_observed) == 2


def _turn(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        text = (
            data.decode("utf-8", "surrogatepass" if len(data) % 2 else "replace")
            if _is_text(data)
            else data.decode("latin-1")
        )
        turn = tags.parse(text)
        steps = {"thought": turn.thought, "call": turn.call and dict(turn.call.arguments), "faults": turn.faults}
        if turn.answer:
            steps["answer"] = turn.answer.explanation
        json.dumps(steps, allow_nan=False, ensure_ascii=False).encode()
        for fault in turn.faults:
            if "\n" in fault or len(fault) > 500:
                raise DidNotHold(f"a fault of {len(fault)} characters: {fault[:80]!r}")
        assistant_message(text, "c1")
        score(text, "YES")

    return attempt


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _stream(folder: Path) -> Try:
    """The stream of a model server, cut in two parts, read as tagged text and as a turn."""

    def attempt(data: bytes) -> None:
        events, reply = ServerEvents(), Reply()
        text = ""
        with refused_by(MalformedStream):
            cut = len(data) // 3
            received = events.feed(data[:cut]) + events.feed(data[cut:]) + events.end()
            for event in (event for event in received if event != "[DONE]"):
                delta: Delta = delta_of(parsed(event))
                text += reply.add(delta)
        text += reply.end()
        tags.parse(text)

    return attempt


def _journal(folder: Path) -> Try:
    settings = {"task": "cv", "n": 1}

    def attempt(data: bytes) -> None:
        path = folder / "results.jsonl"
        path.write_bytes(data)
        (folder / "results.jsonl.run.json").write_text(json.dumps({"schema": "spec-o3/run/1"} | settings), "utf-8")
        with refused_by(JournalError, where=folder), Journal(path, settings) as journal:
            for inspected in journal.inspected():
                _ = inspected.file

    return attempt


TRAJECTORIES = (
    Target("trajectory", _trajectory, trajectories, spoiled_json),
    Target("turn", _turn, turns, spoiled_text),
    Target("stream", _stream, streams, spoiled_text),
    Target("journal", _journal, journals, spoiled_json),
)
