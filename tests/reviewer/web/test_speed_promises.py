"""Limits on queries, bytes sent, bytes read and imports, which keep the app and the readers fast."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from astropy.io import fits
from fastapi.testclient import TestClient

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.spectrum.readers import fits as fits_file
from agent.spectrum.readers import opened
from agent.trajectory import Answer, Think, Zoom
from reviewer import server
from reviewer.store import Draft, Store
from reviewer.store import store as store_module
from reviewer.store.sqlite import database
from reviewer.ui import page as whole_page
from reviewer.web.routes.assets import PLOTLY_URL
from tests.reviewer.web.conftest import a_trace
from tests.support.cli import free_port

ROOT = Path(__file__).resolve().parents[3]
FEW, MANY = 12, 400
BYTES_PER_PIXEL = 25
NEVER_AT_START = ("torch", "transformers", "vllm", "matplotlib", "scipy", "sklearn", "choix", "plotly")

_EVERY = (
    "mine=true,state=screening,task=cv,survey=simulated LAMOST,drafter=a drafter,batch=batch 1,snr_min=1,snr_max=900,"
    "disagreement=false,simulated=true,text=simulated"
)
ALL_AT_ONCE: dict[str, str] = dict(field.split("=") for field in _EVERY.split(","))
FILTERS: dict[str, dict[str, str]] = {
    "default": {"mine": "true"},
    "everything": {},
    **{name: {name: ALL_AT_ONCE[name]} for name in ("state", "task", "survey", "batch", "simulated", "text")},
    "drafter": {"drafter": "a drafter", "mine": "true"},
    "S/N": {"snr_min": "1", "snr_max": "900"},
    "disagreement": {"disagreement": "true"},
    "number": {"text": "#7"},
    "all at once": ALL_AT_ONCE,
}
GROWS = (
    *("standings", "items", "versions", "decisions", "marks", "verdicts"),
    *("spectra", "pictures", "grids", "autosaves"),
)
"""Tables with rows per item or per action on an item. Leases have an index of the current ones."""


# ---- queries of a database


@pytest.fixture(scope="module")
def spectrum() -> Spectrum:
    return simulate("cv", "LAMOST", 20.0, 1)


def drafts(spectrum: Spectrum, items: int) -> Iterator[Draft]:
    zoom = Zoom("s2", {"wavelength_range": [6500, 6630]}, "observed", 0.0, spectrum.medium, "seen", True, "0" * 64)
    first = a_trace(spectrum, Think("s1", "Look."), zoom, Answer("s3", "YES", "An accretion disc."), label=None)
    for number in range(items):
        trajectory = replace(first, steps=(Think("s1", f"Look {number}."), *first.steps[1:]))
        yield Draft(trajectory, spectrum, batch=f"batch {number % 3}", key=str(number))


@pytest.fixture(scope="module")
def traced() -> Iterator[dict[str, list[str]]]:
    """The SQL that runs on each database, by the file's name."""
    logs: dict[str, list[str]] = {}
    plain = database.connect

    def connect(path: Path, *arguments: Any) -> sqlite3.Connection:
        connection = plain(path, *arguments)
        connection.set_trace_callback(logs.setdefault(Path(path).name, []).append)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "connect", connect)
        patch.setattr(store_module, "connect", connect)
        yield logs


class Desk:
    """The app over a number of items, a signed-in person, and the SQL of the requests."""

    def __init__(self, db: Path, spectrum: Spectrum, items: int, traced: dict[str, list[str]]) -> None:
        self.store = Store.open(db)
        self.sql = traced[db.name]
        self.store.accounts.work_alone("AB")
        self.store.items.add_all(drafts(spectrum, items))
        self.client = TestClient(server.build(self.store, local=True), base_url="http://127.0.0.1")
        self.client.get("/api/v1/me")

    def statements_of(self, path: str, **query: str) -> list[str]:
        """The statements behind a GET, without the transaction's own."""
        self.sql.clear()
        answer = self.client.get(f"{path}?{urlencode(query)}")
        assert answer.status_code == 200, answer.text
        return self.statements()

    def statements(self) -> list[str]:
        return [s.strip() for s in self.sql if s.split()[0] in ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")]


@pytest.fixture(scope="module")
def desks(
    tmp_path_factory: pytest.TempPathFactory, spectrum: Spectrum, traced: dict[str, list[str]]
) -> Iterator[Callable[[str, int], Desk]]:
    """Return the desk of a database by its name; made at the first call."""
    folder = tmp_path_factory.mktemp("desks")
    made: dict[str, Desk] = {}

    def desk_of(name: str, items: int) -> Desk:
        if name not in made:
            made[name] = Desk(folder / f"{name}.db", spectrum, items, traced)
        return made[name]

    yield desk_of
    for desk in made.values():
        desk.store.close()


@pytest.fixture
def desk(desks: Callable[[str, int], Desk]) -> Desk:
    return desks("many", MANY)


@pytest.fixture
def small_desk(desks: Callable[[str, int], Desk]) -> Desk:
    return desks("few", FEW)


@pytest.fixture
def own_desk(desks: Callable[[str, int], Desk]) -> Desk:
    """A desk for the only test that changes its database."""
    return desks("own", MANY)


@pytest.mark.parametrize("name", FILTERS)
def test_the_number_of_statements_does_not_grow_with_the_number_of_items(
    name: str, desk: Desk, small_desk: Desk
) -> None:
    for path in ("/api/v1/queue", "/api/v1/first", "/api/v1/place/7", "/api/v1/item/7", "/api/v1/item/7/hints"):
        # Rules and grids are cached, so the second request is counted.
        some, more = ([each.statements_of(path, **FILTERS[name]) for _ in range(2)][1] for each in (small_desk, desk))
        assert some, path
        assert len(some) == len(more) <= 16, f"{path}: {more}"


def scanned(desk: Desk, statements: list[str]) -> list[str]:
    """The steps of the query plans that scan a table that grows with the campaign."""
    found = []
    with sqlite3.connect(desk.store.path) as db:
        for sql in statements:
            for *_, step in db.execute(f"EXPLAIN QUERY PLAN {sql}"):
                match = re.match(r"SCAN (\w+)", step)
                if match and _table(match[1], sql) in GROWS:
                    found.append(f"{step}: {sql}")
    return found


def _table(name: str, sql: str) -> str:
    """The table of an alias."""
    tables = "|".join((*GROWS, "tallies", "leases", "barred", "people", "sessions", "settings"))
    match = re.search(rf"\b({tables})\s+(?:AS\s+)?{name}\b", sql)
    return match[1] if match else name


@pytest.mark.parametrize("name", FILTERS)
def test_no_view_of_the_queue_scans_all_items(name: str, desk: Desk) -> None:
    statements = [
        sql
        for path in ("/api/v1/queue", "/api/v1/first", "/api/v1/place/7")
        for sql in desk.statements_of(path, **FILTERS[name])
    ]
    assert scanned(desk, statements) == []


def test_one_or_two_letters_are_searched_in_every_name_because_trigrams_need_three(desk: Desk) -> None:
    found = scanned(desk, desk.statements_of("/api/v1/queue", text="si"))
    assert found
    names = ("SCAN items", "SCAN t USING COVERING INDEX items_by_name")
    assert all(step.startswith(names) for step in found), found


def test_no_action_on_an_item_scans_all_items(own_desk: Desk) -> None:
    own_desk.sql.clear()
    lease = own_desk.store.leases.take("AB", 7)
    own_desk.store.leases.renew(lease.token)
    version = own_desk.store.items.get(7).version.id
    own_desk.store.marks.add(
        person="AB", item_id=7, version_id=version, step_id="s1", mark="supported", key="the mark's key"
    )
    own_desk.store.leases.autosave(person="AB", item_id=7, base_version_id=version, body={"steps": []})
    own_desk.store.reviews.decide(
        person="AB", item_id=7, version_id=version, verb="keep", key="the decision's key", lease_token=lease.token
    )
    own_desk.store.reviews.undo(person="AB", item_id=7, key="the undo's key")
    for path in ("/api/v1/item/7", "/api/v1/item/7/history", "/api/v1/item/7/hints", "/api/v1/facets", "/api/v1/me"):
        assert own_desk.client.get(path).status_code == 200
    statements = own_desk.statements()
    assert any(sql.startswith("INSERT INTO decisions") for sql in statements)
    assert scanned(own_desk, statements) == []


def test_a_scan_is_detected(desk: Desk) -> None:
    sql = "SELECT count(*) FROM standings s WHERE s.decided_at IS NOT NULL"
    assert len(scanned(desk, [sql])) == 1


# ---- what is sent


def test_an_item_and_its_spectrum_are_small_on_the_wire(desk: Desk, spectrum: Spectrum) -> None:
    item = desk.client.get("/api/v1/item/7")
    assert item.headers["content-encoding"] == "gzip"
    with desk.client.stream("GET", f"/api/v1/spectrum/{spectrum.sha256}") as answer:
        sent = len(b"".join(answer.iter_raw()))
    whole = desk.client.get(f"/api/v1/spectrum/{spectrum.sha256}")
    unpacked, kept = whole.content, whole.headers["cache-control"]
    header = int.from_bytes(unpacked[:4], "little")
    assert len(unpacked) <= 4 + header + BYTES_PER_PIXEL * len(spectrum)
    assert sent <= len(unpacked)
    # The text of the steps is a few hundred bytes here; the rest must be small too.
    assert len(gzip.compress(item.content, 1)) < 4096
    # Immutable: the browser sends no second request, so an ETag is not needed.
    assert "immutable" in kept
    assert int(re.search(r"max-age=(\d+)", kept)[1]) >= 365 * 86400  # type: ignore[index]
    assert "no-" not in kept


def test_the_size_of_a_page_does_not_depend_on_the_length_of_the_queue(desk: Desk, small_desk: Desk) -> None:
    many, few = (each.client.get("/api/v1/queue?limit=10").json() for each in (desk, small_desk))
    assert (many["total"], few["total"]) == (MANY, FEW)
    assert len(many["rows"]) == len(few["rows"]) == 10
    assert len(json.dumps(many)) < 1.05 * len(json.dumps(few))


def test_the_page_preloads_every_module_of_the_review_desk(desk: Desk) -> None:
    head = whole_page.head()
    named = set(re.findall(r'<link rel="modulepreload" href="ui/([^"]+)">', head))
    assert whole_page.FIRST_DESK in named
    for name in named:
        text = (whole_page.STATIC / name).read_text(encoding="utf-8")
        folder = Path("/static") / name
        for other in re.findall(r"""from '(\.[^']+)'""", text):
            assert str((folder.parent / other).resolve().relative_to("/static")) in named, name
    assert "trace/view.js" in named
    assert "live/live.js" not in named
    # Gradio sends the head in the configuration of the page and adds it before it builds the tabs.
    assert json.dumps(head)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e") in desk.client.get("/").text


def test_the_header_of_the_page_preloads_what_the_browser_needs_first(desk: Desk) -> None:
    answer = desk.client.get("/")
    links = answer.headers["link"]
    addresses = re.findall(r"<([^>]+)>; rel=", links)
    assert addresses == [PLOTLY_URL.removeprefix("/"), f"ui/{whole_page.FIRST_DESK}", "api/v1/me"]
    for address in addresses:
        assert desk.client.get(f"/{address}").status_code == 200, address
    # nginx refuses an answer with more than 4 KB of headers unless it is configured otherwise.
    assert sum(len(name) + len(value) + 4 for name, value in answer.headers.items()) < 3500


def test_scripts_are_cached_by_the_browser_for_ever_or_not_sent_again(desk: Desk) -> None:
    assets = files("gradio").joinpath("templates", "frontend", "assets")
    names = sorted(file.name for file in assets.iterdir() if file.name.endswith((".js", ".css")))
    # Each name has a hash of the content: a new release of Gradio has other names.
    assert [name for name in names if not re.fullmatch(r".+-[\w-]{8}\d*\.(js|css)", name)] == []
    assert "immutable" in desk.client.get(f"/assets/{names[0]}").headers["cache-control"]
    assert "immutable" not in desk.client.get("/assets/missing-12345678.js").headers.get("cache-control", "")
    first = desk.client.get("/ui/review/review.js")
    again = desk.client.get("/ui/review/review.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    with desk.client.stream("GET", PLOTLY_URL) as answer:
        sent = len(b"".join(answer.iter_raw()))
    assert sent < 1_800_000, "Plotly is compressed"
    assert "immutable" in answer.headers["cache-control"]
    plain = desk.client.get(PLOTLY_URL, headers={"Accept-Encoding": "identity"})
    assert plain.content == files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    assert version("plotly") in PLOTLY_URL


# ---- what is imported


def imported(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_starting_the_app_imports_nothing_heavy(tmp_path: Path) -> None:
    """Imports are counted up to the start of the server, with a database that is not empty."""
    db = tmp_path / "annotations.db"
    with Store.open(db) as store:
        store.items.add_all(drafts(simulate("cv", "LAMOST", 20.0, 1), 1))
    modules = imported(
        "import app, uvicorn; uvicorn.run = lambda *_, **__: None; "
        f"assert app.main(['--no-browser', '--port', '{free_port()}', '--db', {str(db)!r}]) == 0"
    )
    assert "reviewer.server" in modules
    assert {"gradio", "reviewer.ui.page"} <= modules
    assert [name for name in NEVER_AT_START if name in modules] == []


def test_the_help_imports_no_gradio() -> None:
    assert "gradio" not in imported("import app; app.parser()")


# ---- what is read


def test_the_targets_of_a_desi_file_are_listed_without_reading_a_spectrum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets, pixels = 500, 300
    path = coadd(tmp_path / "coadd.fits", targets, pixels)
    taken: list[int] = []
    data = fits_file.FitsFile.data

    def counted(self: fits_file.FitsFile, offset: int, size: int) -> bytes:
        taken.append(size)
        return data(self, offset, size)

    monkeypatch.setattr(fits_file.FitsFile, "data", counted)
    with opened(path) as found:
        assert len(found.names) == targets
        listed = sum(taken)
        assert listed < 100 * targets + 3 * 8 * pixels
        taken.clear()
        spectrum = found.read(str(1000 + targets // 2))
        assert len(spectrum) == 3 * pixels
        # Flux, ivar and wavelength of three arms; not those of its neighbours.
        assert sum(taken) < 100 * targets + 3 * pixels * (4 + 4 + 8 + 8)
    assert path.stat().st_size > 3 * targets * pixels * 8


def coadd(path: Path, targets: int, pixels: int) -> Path:
    """A file laid out as DESI's coadds are, with smooth spectra."""
    ids = fits.Column("TARGETID", "K", array=1000 + np.arange(targets))
    kinds = fits.Column("OBJTYPE", "3A", array=np.full(targets, "TGT"))
    hdus: list[Any] = [fits.PrimaryHDU(), fits.BinTableHDU.from_columns([ids, kinds], name="FIBERMAP")]
    flux = 1 + np.add.outer(np.arange(targets), np.linspace(0, 1, pixels)).astype("f4")
    for number, arm in enumerate("BRZ"):
        wavelength = 3600 + 0.8 * (np.arange(pixels) + number * pixels)
        hdus.append(fits.ImageHDU(wavelength, name=f"{arm}_WAVELENGTH"))
        hdus.append(fits.ImageHDU(flux, name=f"{arm}_FLUX"))
        hdus.append(fits.ImageHDU(np.ones_like(flux), name=f"{arm}_IVAR"))
    fits.HDUList(hdus).writeto(path)
    return path
