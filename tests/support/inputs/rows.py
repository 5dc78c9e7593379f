"""Files of drafts, training data, settings and blind plans: small valid ones, and damaged zips and names."""

from __future__ import annotations

import io
import json
import stat
import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from agent.plot import pixels_sha256, png_bytes
from agent.spectrum.readers import own
from agent.tasks import files
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer.blind.plan import Plan
from reviewer.exchange.imports import own_row
from tests.support.inputs.spectra import a_spectrum, spectrum_file
from tests.support.training_data import specvi_row

TASKS = files.load()
WINDOW = [4010.0, 4060.0]


def a_trajectory(**changes: Any) -> Trajectory:
    spectrum = a_spectrum()
    observation = "The spectrum between 4010 and 4060 Å."
    steps = (
        Think("s1", "Hα looks broad."),
        Zoom(
            "s2",
            {"wavelength_range": WINDOW, "label": "Hδ"},
            "observed",
            0.0,
            spectrum.medium,
            observation,
            True,
            sha(1),
        ),
        Think("s3", "So a disc."),
        Answer("s4", "YES", "Broad emission."),
    )
    given: dict[str, Any] = {
        "task": "cv",
        "prompt": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable**.\n\nGuide.",
        "spectrum_name": spectrum.name,
        "spectrum_sha256": spectrum.sha256,
        "steps": steps,
        "drafter": Drafter("model", "some model", {"temperature": 1.0}),
        "medium": spectrum.medium,
        "overview": sha(0),
        "label": "YES",
    }
    return Trajectory(**(given | changes))


def picture(number: int) -> Image.Image:
    return Image.new("RGBA", (6, 5), (number, 0, 0, 255))


def sha(number: int) -> str:
    return pixels_sha256(picture(number))


def sample_pictures() -> dict[str, bytes]:
    return {sha(number): png_bytes(picture(number)) for number in (0, 1)}


def with_pictures(folder: Path) -> None:
    """Write the pictures and the spectrum that the rows of ``own_lines`` and ``sharegpt_rows`` name."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for number in (0, 1):
        (folder / "images" / f"{number}.png").write_bytes(png_bytes(picture(number)))
    own.write(a_spectrum(), folder / "spectrum.fits")


def own_lines() -> list[bytes]:
    first = own_row(a_trajectory(), a_spectrum(), {sha(0): "images/0.png", sha(1): "images/1.png"})
    second = own_row(
        a_trajectory(spectrum_sha256=None, spectrum_name="spectrum.fits"),
        None,
        {sha(0): "images/0.png", sha(1): "images/1.png"},
    )
    lines = [json.dumps(row, ensure_ascii=False) for row in (first, second)]
    return [("\n".join(lines) + "\n").encode(), lines[1].encode()]


def _sharegpt() -> dict[str, Any]:
    return a_trajectory(spectrum_sha256=None, spectrum_name="spectrum.fits").to_sharegpt(
        ["images/0.png", "images/1.png"]
    )


def sharegpt_rows() -> list[bytes]:
    row = _sharegpt()
    bare = {key: row[key] for key in ("conversations", "images", "source_name", "ground_truth")}
    assert len(a_trajectory().pictures) == 2
    return [json.dumps([row, bare], indent=1).encode(), json.dumps(row).encode(), json.dumps(bare).encode()]


def json_or_none(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, mode: int = 0o600) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)
            member.compress_type, member.external_attr = method, mode << 16
            packed.writestr(member, content)
    return made.getvalue()


def zips() -> list[bytes]:
    """Valid zips, and those of ``DAMAGED_ZIPS``."""
    members = {"train_sharegpt.json": sharegpt_rows()[0], "spectrum.fits": spectrum_file()}
    members |= {f"images/{number}.png": png_bytes(picture(number)) for number in (0, 1)}
    valid = [zip_of({f"{inside}{name}": content for name, content in members.items()}) for inside in ("", "deep/er/")]
    return [*valid, *(content for content, _ in DAMAGED_ZIPS.values())]


def twice(name: str, again_as: str) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as packed:
        warnings.simplefilter("ignore")  # two members with one name are intended
        packed.writestr(name, b"{}")
        packed.writestr(again_as, b"[]")
    return made.getvalue()


DAMAGED_ZIPS = {
    "a link": (zip_of({"rows.jsonl": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777), "found the link"),
    "a folder that is a link": (zip_of({"images": b"/etc"}, mode=stat.S_IFLNK | 0o777), "found the link"),
    "one name twice": (twice("rows.jsonl", "rows.jsonl"), "found a file whose name cannot be one here"),
    "a file that is a folder": (twice("rows.jsonl", "rows.jsonl/x"), "found a file whose name cannot be"),
    "the same by way of itself": (twice("rows.jsonl", "./rows.jsonl"), "found a file whose name cannot be"),
    "a long name": (zip_of({f"{'x' * 300}.jsonl": b"{}"}), "found a file whose name cannot be one here"),
    "a way out": (zip_of({"../rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "the root": (zip_of({"/rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a way out of Windows": (zip_of({"..\\rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a disk of Windows": (zip_of({"C:\\rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a device of Windows": (zip_of({"images/NUL": b"x", "rows.jsonl": b"{}"}), "expected paths inside the zip"),
    "a device with an ending": (zip_of({"con.jsonl": b"{}"}), "expected paths inside the zip"),
    "a lie about its sizes": (
        zip_of({"rows.jsonl": b"0" * 5_000_000}).replace(
            (5_000_000).to_bytes(4, "little"), (5_000).to_bytes(4, "little")
        ),
        "found a broken zip",
    ),
}


def png_of(width: int, height: int, rows: bytes = b"") -> bytes:
    """A PNG whose header claims this size."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def pictures() -> list[bytes]:
    made = [png_bytes(picture(3))]
    for kind in ("JPEG", "WEBP", "PNG"):
        stream = io.BytesIO()
        Image.new("P" if kind == "PNG" else "RGB", (6, 5)).save(stream, kind)
        made.append(stream.getvalue())
    return made


def specvi_files() -> list[bytes]:
    made = []
    for spectrum in (None, json.dumps(a_spectrum().to_json())):
        row = specvi_row(1)
        row["extra_info"] |= {"survey": "LAMOST", "snr": 9.0, "simulated": True, "spectrum": spectrum}
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([row, row | {"data_source": "carbon"}]), stream)
        made.append(stream.getvalue())
    return made


def label_tables() -> list[bytes]:
    return [
        b"file,label,task,snr\nspectrum.fits,YES,cv,3.5\nb.fits,NO,cc,\n",
        b"\xef\xbb\xbfpath;target;label\na.fits;1;1\na.fits;2;0\n",
        b'name\tlabel\n"a""b.fits"\ttrue\n',
        b"file,target\nspectrum.fits,\nspectrum.fits,1\n",
        b"# a list\nspectrum.fits\nb.fits\n",
    ]


def task_files() -> list[bytes]:
    return [path.read_bytes().replace(b'key = "', b'key = "my_') for path in sorted(files.FOLDER.glob("*.toml"))]


def server_files() -> list[bytes]:
    server = '[[server]]\nkey = "mine"\nurl = "http://127.0.0.1:8000/v1"\nmodel = "m"\n'
    server += "temperature = 0.5\nmax_tokens = 500\n"
    return [
        server.encode(),
        (server + server.replace("mine", "other") + 'dialect = "native"\napi_key_env = "KEY"\n').encode(),
    ]


def settings_files() -> list[bytes]:
    configs = sorted((Path(__file__).resolve().parents[3] / "training" / "configs").glob("sft*.yaml"))
    return [path.read_bytes() for path in configs]


def plan_data() -> dict[str, Any]:
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
        data = {key: value for key, value in plan_data().items() if key not in less}
        made.append(json.dumps(data).encode())
    return [*made, json.dumps(Plan.from_json(plan_data() | {"number": None}).to_json()).encode()]


def sessions() -> list[bytes]:
    item = {"item": 1, "content_hash": "sha256:ab", "source": "rule", "source_kind": "baseline"}
    data = {
        "format": "spec-o3 blind session 1",
        "plan": plan_data(),
        "items": [item, item | {"item": 3, "content_hash": "x"}],
    }
    return [json.dumps(data).encode()]


def trajectories() -> list[bytes]:
    rows = [a_trajectory().to_json(), a_trajectory(redshift=0.1, faults=("a fault",)).to_json()]
    return [json.dumps(row, ensure_ascii=False).encode() for row in rows] + sharegpt_rows()[1:]


def journals() -> list[bytes]:
    row = a_trajectory().to_json() | {"source": {"file": "a.fits", "target": ""}, "sample": 0}
    return [(json.dumps(row) + "\n" + json.dumps(row | {"sample": 1}) + "\n").encode()]


NOT_NAMES = {
    "a NUL": "images/\0.png",
    "4,000 letters": f"images/{'ß' * 4_000}.png",
    "half a character": "images/\ud800.png",
    "another folder": "../elsewhere.png",
    "the root": "/etc/passwd",
}
"""Texts that cannot be names of a row's pictures."""


def with_picture_names(form: str, name: str) -> bytes:
    """Return our own row (``form`` ends in l) or a published one with this name for its second picture."""
    ours = form.endswith("l")
    row = (own_lines()[0].splitlines()[0] if ours else sharegpt_rows()[1]).decode()
    assert '"images/1.png"' in row
    named = row.replace('"images/1.png"', json.dumps(name))
    return (f"{named}\n" if ours else f"[{named}]").encode()
