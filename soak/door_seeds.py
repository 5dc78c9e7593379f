"""Small valid inputs for every door, made by the program itself; real survey files where there are any."""

# ruff: noqa: E501  rows of a table of inputs

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.io import fits
from astropy.table import Table
from PIL import Image

from agent.messages import pictures_of
from agent.plot import pixels_sha256
from agent.plot.png_file import png_bytes
from agent.readers import own
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks.files import FOLDER as TASKS
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer.blind.values import Plan
from reviewer.drafts import own_row

N = 40
WAVELENGTH = 4000.0 + 2.0 * np.arange(N)
FLUX = 10.0 + np.arange(N) % 5
REAL = Path(__file__).resolve().parent.parent.parent / "shared" / "spectra"
LARGEST_REAL = 60_000
"""Bytes: larger files are spoiled too slowly to learn from."""
WINDOW = [4010.0, 4060.0]


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
        hdus += [
            fits.ImageHDU(np.ones((2, N), np.float32), name=f"{arm}_{what}") for what in ("FLUX", "IVAR")
        ]
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
    return _fits(
        fits.PrimaryHDU(), fits.BinTableHDU(Table({"WAVELENGTH": WAVELENGTH, "FLUX": FLUX, "ERR": FLUX / 9}))
    )


def _multispec() -> bytes:
    axis = 'wtype=multispec spec1 = "1 1 0 4000.0 2.0 40 0. 1 1" spec2 = "2 2 0 4000. 2. 40 0. 1 1"'
    cards = {"WAT0_001": "system=multispec", "WAT2_001": axis[:60], "WAT2_002": axis[60:], "APNUM1": "1 1"}
    hdu = fits.PrimaryHDU(np.ones((2, N), np.float32))
    hdu.header.update(cards)
    return _fits(hdu)


@cache
def _spectrum() -> Spectrum:
    whole = simulate("cv", "LAMOST", 20.0, 1)
    part = slice(200, 200 + 8 * N)
    parts = (whole.wavelength[part], whole.flux[part], whole.ivar[part], whole.mask[part])
    return replace(whole, wavelength=parts[0], flux=parts[1], ivar=parts[2], mask=parts[3])


def _own_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        own.write(_spectrum(), Path(folder, "x.fits"))
        return Path(folder, "x.fits").read_bytes()


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
        _own_file(),
        _image(np.ones((3, 2, N)), APNUM1="1", BANDID2="sigma"),
    ]
    real = (
        [p for p in sorted(REAL.rglob("*.fits")) if p.stat().st_size < LARGEST_REAL] if REAL.is_dir() else []
    )
    return made + [path.read_bytes() for path in real[:12]]


def gzip_files() -> list[bytes]:
    return [gzip.compress(one, mtime=0) for one in (*fits_files()[:12], *text_files())]


def text_files() -> list[bytes]:
    rows = [f"{w:.2f},{f:.3f},1.0" for w, f in zip(WAVELENGTH, FLUX, strict=True)]
    plain = "\n".join(rows)
    spaced = plain.replace(",", "  ")
    return [
        f"# a star\n# RA : 193.8\n# z = 0.1\nwavelength,flux,err\n{plain}\n".encode(),
        f"# %ECSV 1.0\n# ---\n# datatype:\n# - {{name: wave, unit: nm, datatype: float64}}\nwave flux err\n{spaced}\n".encode(),
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


def specvi_files() -> list[bytes]:
    given = {"flux": FLUX.tolist(), "wavelength": WAVELENGTH.tolist(), "redshift": 0.01}
    made = []
    for spectrum in (None, json.dumps(_spectrum().to_json())):
        info: dict[str, Any] = {
            "index": "0-1",
            "name": "spec-1.fits",
            "survey": "LAMOST",
            "snr": 9.0,
            "simulated": True,
        }
        info["tools_kwargs"] = {"spectral_visualization_tool": {"create_kwargs": given}}
        info["spectrum"] = spectrum
        row = {
            "images": [{"bytes": b"not looked at", "path": None}],
            "data_source": "cv",
            "prompt": [
                {"role": "system", "content": "You."},
                {"role": "user", "content": "<image>\nIs it?\n\nGuide."},
            ],
            "reward_model": {"ground_truth": "YES", "type": "rule"},
            "extra_info": info,
        }
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([row, row | {"data_source": "carbon"}]), stream)
        made.append(stream.getvalue())
    return made


def spectra_as_json() -> list[bytes]:
    return [json.dumps(_spectrum().to_json()).encode()]


def _trajectory(**changes: Any) -> Trajectory:
    one = _spectrum()
    seen = "The spectrum between 4010 and 4060 Å."
    steps = (
        Think("s1", "Hα looks broad."),
        Zoom(
            "s2",
            {"wavelength_range": WINDOW, "label": "Hδ"},
            "observed",
            0.0,
            one.medium,
            seen,
            True,
            _sha(1),
        ),
        Think("s3", "So a disc."),
        Answer("s4", "YES", "Broad emission."),
    )
    given: dict[str, Any] = {
        "task": "cv",
        "prompt": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable**.\n\nGuide.",
        "spectrum_name": one.name,
        "spectrum_sha256": one.sha256,
        "steps": steps,
        "drafter": Drafter("model", "some model", {"temperature": 1.0}),
        "medium": one.medium,
        "overview": _sha(0),
        "label": "YES",
    }
    return Trajectory(**(given | changes))


def _picture(number: int) -> Image.Image:
    return Image.new("RGBA", (6, 5), (number, 0, 0, 255))


def _sha(number: int) -> str:
    return pixels_sha256(_picture(number))


def with_pictures(folder: Path) -> None:
    """A folder in which the rows of ``own_lines`` and ``sharegpt_rows`` find their pictures and spectrum."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for number in (0, 1):
        (folder / "images" / f"{number}.png").write_bytes(png_bytes(_picture(number)))
    own.write(_spectrum(), folder / "spectrum.fits")


def trajectories() -> list[bytes]:
    rows = [_trajectory().to_json(), _trajectory(redshift=0.1, faults=("a fault",)).to_json()]
    return [json.dumps(row, ensure_ascii=False).encode() for row in rows] + sharegpt_rows()[1:]


def own_lines() -> list[bytes]:
    first = own_row(_trajectory(), _spectrum(), {_sha(0): "images/0.png", _sha(1): "images/1.png"})
    second = own_row(
        _trajectory(spectrum_sha256=None, spectrum_name="spectrum.fits"),
        None,
        {_sha(0): "images/0.png", _sha(1): "images/1.png"},
    )
    lines = [json.dumps(row, ensure_ascii=False) for row in (first, second)]
    return [("\n".join(lines) + "\n").encode(), lines[1].encode()]


def _sharegpt() -> dict[str, Any]:
    return _trajectory(spectrum_sha256=None, spectrum_name="spectrum.fits").to_sharegpt(
        ["images/0.png", "images/1.png"]
    )


def sharegpt_rows() -> list[bytes]:
    row = _sharegpt()
    bare = {key: row[key] for key in ("conversations", "images", "source_name", "ground_truth")}
    assert len(pictures_of(_trajectory())) == 2
    return [json.dumps([row, bare], indent=1).encode(), json.dumps(row).encode(), json.dumps(bare).encode()]


def zips() -> list[bytes]:
    made = []
    for inside in ("", "deep/er/"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(f"{inside}train_sharegpt.json", sharegpt_rows()[0])
            packed.writestr(f"{inside}spectrum.fits", _own_file())
            for number in (0, 1):
                packed.writestr(f"{inside}images/{number}.png", png_bytes(_picture(number)))
        made.append(stream.getvalue())
    return made


def pictures() -> list[bytes]:
    made = [png_bytes(_picture(3))]
    for kind in ("JPEG", "WEBP", "PNG"):
        stream = io.BytesIO()
        Image.new("P" if kind == "PNG" else "RGB", (6, 5)).save(stream, kind)
        made.append(stream.getvalue())
    return made


def turns() -> list[bytes]:
    call = '{"name": "spectral_visualization_tool", "arguments": {"wavelength_range": [4010, 4060.5], "label": "Hα"}}'
    texts = (
        f"<think>Look.</think>\n<tool_call>\n{call}\n</tool_call>",
        "<think>Seen.</think><answer>\\boxed{YES} Broad.</answer>",
        f"I look. {call}",
        f"<tool_call>{call[:-2]}</tool_call><tool_call>{{'wavelength_range': (1, 2)}}</tool_call>",
        "<answer>**no**</answer></think>\\boxed{NO}<|im_end|>",
        '<tool_call>```json\n{"name": "x", "arguments": "{\\"wavelength_range\\": [1e999, NaN]}"}\n```</tool_call>',
        "\x03b1 H\x02 \x1b[31m \x00b1 5 6500\x005",
    )
    return [text.encode() for text in texts]


def streams() -> list[bytes]:
    def event(**delta: Any) -> str:
        return "data: " + json.dumps(
            {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        )

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


def label_tables() -> list[bytes]:
    return [
        b"file,label,task,snr\nspectrum.fits,YES,cv,3.5\nb.fits,NO,cc,\n",
        b"\xef\xbb\xbfpath;target;label\na.fits;1;1\na.fits;2;0\n",
        b'name\tlabel\n"a""b.fits"\ttrue\n',
        b"file,target\nspectrum.fits,\nspectrum.fits,1\n",
        b"# a list\nspectrum.fits\nb.fits\n",
    ]


def task_files() -> list[bytes]:
    return [path.read_bytes().replace(b'key = "', b'key = "my_') for path in sorted(TASKS.glob("*.toml"))]


def server_files() -> list[bytes]:
    one = '[[server]]\nkey = "mine"\nurl = "http://127.0.0.1:8000/v1"\nmodel = "m"\ntemperature = 0.5\nmax_tokens = 500\n'
    return [
        one.encode(),
        (one + one.replace("mine", "other") + 'dialect = "native"\napi_key_env = "KEY"\n').encode(),
    ]


def settings_files() -> list[bytes]:
    configs = sorted((Path(__file__).resolve().parent.parent / "training" / "configs").glob("sft*.yaml"))
    return [path.read_bytes() for path in configs]


def _plan_data() -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "first",
        "mode": "both",
        "scorers": ["AA", "BB"],
        "each": 1,
        "repeats": 0,
        "seed": 3,
    }
    data |= {
        "sources": ["rule", "model"],
        "tasks": ["cv"],
        "number": 4,
        "filter": {"snr_min": 3, "states": ["approved"]},
    }
    return data | {"gold": [{"item": 3, "coherence": 4, "tolerance": 1}]}


def plans() -> list[bytes]:
    made = []
    for less in ((), ("filter",), ("number", "filter", "gold")):
        data = {key: value for key, value in _plan_data().items() if key not in less}
        made.append(json.dumps(data).encode())
    return [*made, json.dumps(Plan.from_json(_plan_data() | {"number": None}).to_json()).encode()]


def sessions() -> list[bytes]:
    item = {"item": 1, "content_hash": "sha256:ab", "source": "rule", "source_kind": "baseline"}
    data = {
        "format": "spec-o3 blind session 1",
        "plan": _plan_data(),
        "items": [item, item | {"item": 3, "content_hash": "x"}],
    }
    return [json.dumps(data).encode()]


def journals() -> list[bytes]:
    row = _trajectory().to_json() | {"source": {"file": "a.fits", "target": ""}, "sample": 0}
    return [(json.dumps(row) + "\n" + json.dumps(row | {"sample": 1}) + "\n").encode()]


REQUESTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "/api/look", {"item": 1, "arguments": {"wavelength_range": WINDOW, "label": "x"}}),
    ("POST", "/api/renew", {"lease": "abc"}),
    ("POST", "/api/release", {"lease": "abc"}),
    (
        "POST",
        "/api/item/1/autosave",
        {"base": 1, "steps": [{"id": "s1", "kind": "think", "text": "a"}], "comment": "b"},
    ),
    ("POST", "/api/item/1/discard", {"base": 1, "steps": [], "comment": ""}),
    (
        "POST",
        "/api/item/1/version",
        {
            "base": 1,
            "steps": [{"id": "s1", "kind": "think", "text": "a"}],
            "reason": "r",
            "key": "k" * 10,
            "lease": "LEASE",
        },
    ),
    (
        "POST",
        "/api/item/1/decide",
        {"version": 1, "verb": "keep", "key": "k" * 11, "lease": "LEASE", "reason": "", "comment": "c"},
    ),
    ("POST", "/api/item/1/undo", {"key": "k" * 12}),
    (
        "POST",
        "/api/item/1/mark",
        {"version": 1, "step": "s1", "mark": "not supported", "note": "n", "key": "k" * 13},
    ),
    ("POST", "/api/item/1/verdict", {"version": 1, "verdict": "YES"}),
    ("POST", "/api/item/1/lease", {}),
    (
        "POST",
        "/api/blind/sheet/abc/score",
        {"coherence": 3, "consistency": None, "comment": "c", "wrong_steps": ["1"], "key": "k" * 14},
    ),
    ("POST", "/api/blind/sheet/abc/prefer", {"preference": "left", "comment": "c", "key": "k" * 15}),
    ("POST", "/api/blind/preview", {"plan": _plan_data()}),
    ("POST", "/api/blind/sessions", {"plan": _plan_data(), "key": "k" * 16}),
    ("POST", "/api/blind/sessions/1/open", {"key": "k" * 17}),
    ("POST", "/api/live/bench", {"item": 1}),
    (
        "POST",
        "/api/live/runs",
        {"bench": "x", "task": "cv", "policy": "baseline", "samples": 1, "max_turns": 2},
    ),
    ("POST", "/api/live/runs/x/review", {"samples": [0]}),
    (
        "GET",
        "/api/queue",
        {"after": 1, "limit": 3, "text": "a", "snr_min": 1.0, "task": "cv", "state": "screening"},
    ),
    ("GET", "/api/item/1", {"verdict_first": "true"}),
    ("GET", "/api/place/1", {"batch": "x"}),
    ("GET", "/api/item/1/hints", {"version": 1}),
    ("GET", "/api/picture/abc", {"spectrum": "x", "redshift": 0.1, "arguments": "{}"}),
    ("GET", "/api/atlas", {"survey": "LAMOST", "task": "cv"}),
    ("GET", "/api/template", {"task": "cv"}),
    ("GET", "/api/live/health", {"policy": "baseline"}),
    ("GET", "/api/live/library", {"q": "a", "limit": 3}),
    ("GET", "/api/blind/sheet/a/picture/0/1", {}),
    ("GET", "/api/progress", {}),
    ("POST", "/sign-in", {"initials": "RV", "password": "x"}),
)


def requests() -> Iterator[bytes]:
    for method, path, body in REQUESTS:
        yield json.dumps({"method": method, "path": path, "body": body}).encode()


def archive_files() -> list[bytes]:
    """The tables and the manifest of a plain archive with two items."""
    from reviewer.drafts import import_file
    from reviewer.keeping.archive_out import archive
    from reviewer.store import Store

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with_pictures(folder)
        (folder / "rows.jsonl").write_bytes(own_lines()[0])
        with Store.open(folder / "annotations.db") as store:
            import_file(store, folder / "rows.jsonl", folder, "fuzz")
            archive(store, folder / "plain")
        found = sorted((folder / "plain").glob("*.json*"))
        return [path.read_bytes() for path in found if path.stat().st_size]


def sample() -> tuple[Trajectory, Spectrum]:
    """A trace and its spectrum."""
    return _trajectory(), _spectrum()


def sample_pictures() -> dict[str, bytes]:
    return {_sha(number): png_bytes(_picture(number)) for number in (0, 1)}
