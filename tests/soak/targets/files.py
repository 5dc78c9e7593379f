"""Entry points for spectra files and trajectories."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.io import fits
from astropy.table import Table

from agent.batch.journal import Journal, JournalError
from agent.policies.native import Reply, assistant_message
from agent.policies.openai.stream import Delta, MalformedStream, ServerEvents, delta_of, parsed
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers import opened
from agent.trajectory import Trajectory, tags
from agent.trajectory.steps import TrajectoryError
from tests.soak.mutations import inside_gzip, spoiled_bytes, spoiled_fits, spoiled_json, spoiled_text
from tests.soak.targets.rows import specvi_files
from tests.soak.targets.samples import (
    FLUX,
    MOST_SPECTRA,
    WAVELENGTH,
    N,
    a_spectrum,
    a_trajectory,
    json_or_none,
    sharegpt_rows,
    spectrum_file,
)
from tests.soak.trying import DidNotHold, Target, Try, refused_by
from training.reward import score

REAL = Path(__file__).resolve().parents[4] / "shared" / "spectra"
LARGEST_REAL = 60_000
"""Bytes: larger files are spoiled too slowly to learn from."""


def _fits(*hdus: Any) -> bytes:
    stream = io.BytesIO()
    fits.HDUList(list(hdus)).writeto(stream)
    return stream.getvalue()


def _image(flux: Any = FLUX, **cards: Any) -> bytes:
    hdu = fits.PrimaryHDU(np.asarray(flux, np.float32))
    for key, value in ({"CRVAL1": 4000.0, "CDELT1": 2.0} | cards).items():
        hdu.header[key.replace("_1_", "-")] = value
    return _fits(hdu)


def _lamost() -> bytes:
    hdu = fits.PrimaryHDU(np.array([FLUX, FLUX, WAVELENGTH, 0 * FLUX, 0 * FLUX], np.float32))
    hdu.header["TELESCOP"], hdu.header["EXTEN0"] = "LAMOST", "Flux, Inverse, Wavelength, Andmask, Ormask"
    return _fits(hdu)


def _lamost_table() -> bytes:
    row = {
        "FLUX": [FLUX],
        "IVAR": [FLUX],
        "WAVELENGTH": [WAVELENGTH],
        "ANDMASK": [0 * FLUX],
        "ORMASK": [0 * FLUX],
    }
    primary = fits.PrimaryHDU()
    primary.header["TELESCOP"] = "LAMOST"
    return _fits(primary, fits.BinTableHDU(Table(row), name="COADD"))


def _sdss() -> bytes:
    coadd = {"flux": FLUX, "loglam": np.log10(WAVELENGTH), "ivar": FLUX, "and_mask": np.zeros(N, int)}
    row = {"Z": [0.1], "CLASS": ["STAR"], "PLUG_RA": [1.0], "SN_MEDIAN": [[1.0] * 5]}
    return _fits(fits.PrimaryHDU(), fits.BinTableHDU(Table(coadd)), fits.BinTableHDU(Table(row)))


def _desi(mask: bool = False) -> bytes:
    hdus: list[Any] = [fits.PrimaryHDU(), fits.BinTableHDU(Table({"TARGETID": [1, 2]}), name="FIBERMAP")]
    for arm, start in (("B", 3600.0), ("R", 3624.0), ("Z", 3648.0)):
        hdus.append(fits.ImageHDU(start + 0.8 * np.arange(N), name=f"{arm}_WAVELENGTH"))
        hdus += [fits.ImageHDU(np.ones((2, N), np.float32), name=f"{arm}_{what}") for what in ("FLUX", "IVAR")]
        if mask:
            hdus.append(fits.CompImageHDU(np.zeros((2, N), np.int32), name=f"{arm}_MASK"))
    return _fits(*hdus)


def _marz() -> bytes:
    images = [fits.PrimaryHDU(np.ones((2, N), np.float32))]
    images[0].header["CRVAL1"], images[0].header["CDELT1"] = 4000.0, 2.0
    rest = [fits.ImageHDU(np.ones((2, N), np.float32), name=name) for name in ("VARIANCE", "SKY")]
    table = Table(
        {"NAME": ["a", "b"], "TYPE": ["P", "S"], "RA": [0.1, 0.2], "DEC": [0.1, 0.2], "MAGNITUDE": [1.0, 2.0]}
    )
    return _fits(*images, *rest, fits.BinTableHDU(table, name="FIBRES"))


def _named_table() -> bytes:
    return _fits(fits.PrimaryHDU(), fits.BinTableHDU(Table({"WAVELENGTH": WAVELENGTH, "FLUX": FLUX, "ERR": FLUX / 9})))


def _multispec() -> bytes:
    axis = 'wtype=multispec spec1 = "1 1 0 4000.0 2.0 40 0. 1 1" spec2 = "2 2 0 4000. 2. 40 0. 1 1"'
    cards = {"WAT0_001": "system=multispec", "WAT2_001": axis[:60], "WAT2_002": axis[60:], "APNUM1": "1 1"}
    hdu = fits.PrimaryHDU(np.ones((2, N), np.float32))
    hdu.header.update(cards)
    return _fits(hdu)


@cache
def fits_files() -> list[bytes]:
    made = [
        _image(),
        _image(WAT0_001="x", APNUM1="1"),
        _lamost(),
        _lamost_table(),
        _sdss(),
        _desi(),
        _desi(True),
    ]
    made += [
        _marz(),
        _named_table(),
        _multispec(),
        spectrum_file(),
        _image(np.ones((3, 2, N)), APNUM1="1", BANDID2="sigma"),
    ]
    real = [p for p in sorted(REAL.rglob("*.fits")) if p.stat().st_size < LARGEST_REAL] if REAL.is_dir() else []
    return made + [path.read_bytes() for path in real[:12]]


def gzip_files() -> list[bytes]:
    return [gzip.compress(one, mtime=0) for one in (*fits_files()[:12], *text_files())]


def text_files() -> list[bytes]:
    rows = [f"{w:.2f},{f:.3f},1.0" for w, f in zip(WAVELENGTH, FLUX, strict=True)]
    plain = "\n".join(rows)
    spaced = plain.replace(",", "  ")
    ecsv = "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: wave, unit: nm, datatype: float64}"
    return [
        f"# a star\n# RA : 193.8\n# z = 0.1\nwavelength,flux,err\n{plain}\n".encode(),
        f"{ecsv}\nwave flux err\n{spaced}\n".encode(),
        f"% columns: lambda flux\n{spaced}\n".encode(),
        spaced.replace("E", "D").encode("latin-1"),
        ("\ufeff" + plain.replace(",", ";")).encode(),
        f'SET .Z.UNITS = "Jy"\n{spaced}'.encode(),
    ]


def _parquet(**columns: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"wavelength": WAVELENGTH, "flux": FLUX} | columns), stream)
    return stream.getvalue()


def parquet_files() -> list[bytes]:
    lists = {"wavelength": [WAVELENGTH.tolist()] * 2, "flux": [FLUX.tolist()] * 2}
    return [_parquet(), _parquet(**lists), *specvi_files()]


def spectra_as_json() -> list[bytes]:
    return [json.dumps(a_spectrum().to_json()).encode()]


def _reader(name: str) -> Callable[[Path], Try]:
    """A spectrum file: each of its spectra is one, or is refused; what is read can be written again."""

    def make(folder: Path) -> Try:
        # Its import takes seconds, and is not the first strange file's doing.
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


SPECTRA = (
    Target("fits", _reader("x.fits"), fits_files, spoiled_fits),
    Target("fits.gz", _reader("x.fits.gz"), gzip_files, inside_gzip(spoiled_fits)),
    Target("text", _reader("x.csv"), text_files, spoiled_text),
    Target("parquet", _reader("x.parquet"), parquet_files, spoiled_bytes),
    Target("spectrum.json", _spectrum_json, spectra_as_json, spoiled_json),
)


def trajectories() -> list[bytes]:
    rows = [a_trajectory().to_json(), a_trajectory(redshift=0.1, faults=("a fault",)).to_json()]
    return [json.dumps(row, ensure_ascii=False).encode() for row in rows] + sharegpt_rows()[1:]


def turns() -> list[bytes]:
    arguments = '{"wavelength_range": [4010, 4060.5], "label": "Hα"}'
    call = f'{{"name": "spectral_visualization_tool", "arguments": {arguments}}}'
    quoted = json.dumps({"name": "x", "arguments": '{"wavelength_range": [1e999, NaN]}'})
    texts = (
        f"<think>Look.</think>\n<tool_call>\n{call}\n</tool_call>",
        "<think>Seen.</think><answer>\\boxed{YES} Broad.</answer>",
        f"I look. {call}",
        f"<tool_call>{call[:-2]}</tool_call><tool_call>{{'wavelength_range': (1, 2)}}</tool_call>",
        "<answer>**no**</answer></think>\\boxed{NO}<|im_end|>",
        f"<tool_call>```json\n{quoted}\n```</tool_call>",
        "\x03b1 H\x02 \x1b[31m \x00b1 5 6500\x005",
    )
    return [text.encode() for text in texts]


def streams() -> list[bytes]:
    def event(**delta: Any) -> str:
        return "data: " + json.dumps({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    call = {
        "index": 0,
        "id": "c",
        "function": {"name": "spectral_visualization_tool", "arguments": '{"label": "x"}'},
    }
    told = [
        event(role="assistant", content="<think>Lo"),
        event(content="ok.</think>"),
        event(reasoning_content="hm <answer>"),
    ]
    told += [event(tool_calls=[call]), event(tool_calls=[call | {"id": None}])]
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}}'
    return [
        "\n\n".join([*told, usage, "data: [DONE]", ""]).encode(),
        b": alive\n\ndata: {}\n\ndata: {\ndata: }\n\n",
    ]


def journals() -> list[bytes]:
    row = a_trajectory().to_json() | {"source": {"file": "a.fits", "target": ""}, "sample": 0}
    return [(json.dumps(row) + "\n" + json.dumps(row | {"sample": 1}) + "\n").encode()]


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
        steps = {
            "thought": turn.thought,
            "call": turn.call and dict(turn.call.arguments),
            "faults": turn.faults,
        }
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
    """What a model server streams, cut at any place, to tagged text and on to a turn."""

    def attempt(data: bytes) -> None:
        events, reply = ServerEvents(), Reply()
        text = ""
        with refused_by(MalformedStream):
            cut = len(data) // 3
            told = events.feed(data[:cut]) + events.feed(data[cut:]) + events.end()
            for event in (one for one in told if one != "[DONE]"):
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
