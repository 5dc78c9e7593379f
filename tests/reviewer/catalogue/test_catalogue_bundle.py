"""The bundle: two builds are identical, and ``verify`` finds every edit."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from rocrate.rocrate import ROCrate

from agent import tasks
from reviewer.catalogue import bundle, pictures
from reviewer.catalogue.bundle import CRATE, build, compare, verify
from reviewer.catalogue.facts import CatalogueError, Facts, Wish
from reviewer.catalogue.objects import objects_of
from reviewer.exchange import exports
from reviewer.store import NotFound, Store
from tests.reviewer.catalogue.conftest import CV, Campaign
from tests.support.drawn_traces import approve

ONLY_ONE = Wish(CV, title="Ten CVs", authors=("Ada Öther", "Bo Böhm & Co"), licence="CC-BY-4.0")


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def copy(campaign: Campaign, tmp_path: Path) -> Path:
    return Path(shutil.copytree(campaign.bundle, tmp_path / "bundle"))


@pytest.fixture
def store(campaign: Campaign, tmp_path: Path):  # type: ignore[no-untyped-def]
    shutil.copytree(campaign.db.parent / "certificates", tmp_path / "certificates")
    with Store.open(shutil.copy(campaign.db, tmp_path)) as store:
        yield store


def test_two_builds_are_identical_and_verify_finds_nothing(campaign: Campaign, store: Store, tmp_path: Path) -> None:
    again = build(store, ONLY_ONE, tmp_path / "again", person="AA")
    assert hashes(again.folder) == hashes(campaign.bundle)
    assert verify(again.folder) == []
    assert {path.suffix for path in (again.folder / "figures").iterdir()} == {".pdf", ".png"}
    assert len(list((again.folder / "figures").iterdir())) == 2 * again.numbers["objects"]
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_a_crate_describes_every_file(campaign: Campaign) -> None:
    crate = ROCrate(str(campaign.bundle))
    described = {entity.id for entity in crate.get_entities() if entity.type == "File"}
    assert described == set(hashes(campaign.bundle)) - {CRATE}
    assert crate.root_dataset["license"] == "CC-BY-4.0"
    assert [author["name"] for author in crate.root_dataset["author"]] == ["Ada Öther", "Bo Böhm & Co"]
    stated = {entity.id: entity["sha256"] for entity in crate.get_entities() if entity.type == "File"}
    assert stated == {path: sha256 for path, sha256 in hashes(campaign.bundle).items() if path != CRATE}


def test_the_pictures_have_windows_and_print_sizes(campaign: Campaign) -> None:
    with Image.open(campaign.bundle / "gallery" / "page-0001.png") as page:
        assert page.size == (1420, 1148)
    facts = Facts.read(campaign.bundle)
    first, second, _ = objects_of(facts)
    windows = [entry.windows(facts.spectrum(entry.best)) for entry in (first, second)]
    assert all(windows)
    zooms = [step for step in second.best["trace"]["steps"] if step["kind"] == "zoom"]
    assert [window.step for window in windows[1]] == [2 * n for n in range(1, len(zooms) + 1)]


# ---- edits

TEXTS = (".csv", ".md", ".bib", ".json", ".jsonl", ".txt", ".dat", ".vot", "ReadMe")


def edit(path: Path, chance: random.Random) -> None:
    """Change one digit of a text or one byte of another file."""
    data = bytearray(path.read_bytes())
    if path.name.endswith(TEXTS):
        places = [match.start() for match in re.finditer(rb"\d", data)]
        at = chance.choice(places)
        data[at] = chance.choice([byte for byte in b"0123456789" if byte != data[at]])
    else:
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def found_by(folder: Path, path: str, change: Callable[[Path], None]) -> set[str]:
    """The files that ``verify`` names after a change, which is then taken back."""
    before = (folder / path).read_bytes()
    change(folder / path)
    named = {difference.path for difference in verify(folder)}
    (folder / path).write_bytes(before)
    return named


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("catalogue.csv", "row 2, EW_Halpha_emission"),
        ("numbers.json", "line "),
        ("methods.md", "line "),
        ("figures/000001.png", "pixels"),
        ("catalogue.fits", "byte"),
        ("data/items.jsonl", "sha256"),
        ("data/spectra.jsonl", "sha256"),
        ("data/sky.jsonl", "sha256"),
        ("data/campaign.json", "sha256"),
    ],
)
def test_an_edit_is_named_with_its_place(copy: Path, path: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "draw", _copied(copy))
    file = copy / path
    if path == "catalogue.csv":
        lines = file.read_text(encoding="utf-8").split("\n")
        at = lines[0].split(",").index("EW_Halpha_emission")
        cells = lines[1].split(",")
        cells[at] = "-1.0"
        file.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]), encoding="utf-8", newline="\n")
    elif path.endswith(".png"):
        with Image.open(file) as picture:
            changed = picture.copy()
        changed.putpixel((700, 300), (255, 0, 0, 255))
        changed.save(file)
    else:
        edit(file, random.Random(3))
    named = [difference for difference in verify(copy) if difference.path == path]
    assert any(place in difference.place for difference in named), [*map(str, named)]


def _copied(folder: Path) -> Callable[..., None]:
    """Stands for the drawing of pictures: those of the bundle as it was built."""
    kept = {path: path.read_bytes() for name in ("figures", "gallery") for path in (folder / name).iterdir()}

    def draw(rows: object, out: Path, progress: object = None) -> None:
        for path, data in kept.items():
            target = out / path.relative_to(folder)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(data)

    return draw


def test_edits_of_each_file_are_found(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are not drawn anew here, as the first test does."""
    monkeypatch.setattr(pictures, "draw", _copied(copy))
    chance = random.Random(20261130)
    missed = [path for path in hashes(copy) if path not in found_by(copy, path, lambda file: edit(file, chance))]
    assert missed == []


@pytest.mark.long
def test_a_hundred_edits_are_found(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above: to draw for each of them takes ten minutes."""
    monkeypatch.setattr(pictures, "draw", _copied(copy))
    chance = random.Random(43)
    files = [*hashes(copy)]
    chosen = [chance.choice(files) for _ in range(100)]
    missed = [path for path in chosen if path not in found_by(copy, path, lambda file: edit(file, chance))]
    assert missed == []


def test_missing_and_foreign_files_are_found(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "draw", _copied(copy))
    (copy / "left_out.csv").unlink()
    (copy / "notes.txt").write_text("mine")
    named = {difference.path: str(difference) for difference in verify(copy)}
    assert named["left_out.csv"] == "left_out.csv: found no file, expected a file"
    assert named["notes.txt"] == "notes.txt: found a file, expected no file of that name"


def test_another_release_is_named(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "draw", _copied(copy))
    versions = bundle.given.versions()
    monkeypatch.setattr(bundle.given, "versions", lambda: {**versions, "astropy": "99.1"})
    assert [(d.place, d.expected) for d in verify(copy)] == [("versions.astropy", "99.1")]


@pytest.mark.parametrize("damage", ["[]", "{", '{"schema": "spec-o3/catalogue/9"}', ""])
def test_damaged_data_are_refused_by_name(copy: Path, damage: str) -> None:
    (copy / "data" / "campaign.json").write_text(damage)
    with pytest.raises(CatalogueError, match=r"campaign\.json: .*found.*expected"):
        verify(copy)


@pytest.mark.parametrize("field", ["trace", "decisions", "inspection", "spectrum", "names", "ra"])
def test_items_without_a_field_are_named(copy: Path, field: str) -> None:
    path = copy / "data" / "items.jsonl"
    items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps({k: v for k, v in item.items() if k != field}) + "\n" for item in items)
    path.write_text(text, encoding="utf-8")
    assert {difference.path for difference in verify(copy)} == {"data/", "data/items.jsonl"}


# ---- building


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "draw", lambda *_: None)


@pytest.mark.usefixtures("undrawn")
def test_a_view_selects_and_what_it_selects_by_is_stated(campaign: Campaign, store: Store, tmp_path: Path) -> None:
    built = build(store, replace(ONLY_ONE, view=campaign.view), tmp_path / "out")
    assert (built.numbers["selected_items"], built.numbers["objects"]) == (2, 1)
    text = (built.folder / "methods.md").read_text(encoding="utf-8")
    assert "2 items were considered, those of the saved view “Tonight's” (a list of 2 items)" in text
    by_filter = store.views.create(
        person="AA", name="Rejected ones", filter={"state": ["approved"], "survey": "LAMOST"}
    )
    built = build(store, replace(ONLY_ONE, view=by_filter.id), tmp_path / "filtered")
    assert built.numbers["selected_items"] == 6
    assert "(a filter: state = ['approved'], survey = LAMOST)" in (built.folder / "methods.md").read_text(
        encoding="utf-8"
    )


def test_views_that_depend_on_the_person_are_refused(store: Store, tmp_path: Path) -> None:
    for name, filter in (("mine", {"mine": True}), ("words", {"words": "Balmer"}), ("unread", {"discussed": "unread"})):
        view = store.views.create(person="AA", name=name, filter=filter)
        with pytest.raises(CatalogueError, match="shows each person other items"):
            build(store, replace(ONLY_ONE, view=view.id), tmp_path / "out")
    other = store.views.create(person="AA", name="wd", filter={"task": "wd"})
    with pytest.raises(CatalogueError, match="selects items of the class wd"):
        build(store, replace(ONLY_ONE, view=other.id), tmp_path / "out")
    with pytest.raises(NotFound):
        build(store, replace(ONLY_ONE, view=10**6), tmp_path / "out")
    own = store.views.create(person="BB", name="of BB", items=[1])
    with pytest.raises(NotFound, match="not shared"):
        build(store, replace(ONLY_ONE, view=own.id), tmp_path / "out", person="AA")
    assert not (tmp_path / "out").exists()


def test_nothing_in_the_catalogue_is_refused_with_the_reasons(store: Store, tmp_path: Path) -> None:
    view = store.views.create(person="AA", name="none", filter={"state": ["rejected"]})
    with pytest.raises(CatalogueError, match=r"of 1 selected \(1 trace rejected: wrong class\)"):
        build(store, replace(ONLY_ONE, view=view.id), tmp_path / "out")
    assert not any(path.name.startswith(".out") for path in tmp_path.iterdir())


@pytest.mark.usefixtures("undrawn")
def test_of_what_a_person_scores_blind_only_the_number_is_in_their_catalogue(
    campaign: Campaign, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = campaign.items["second epoch"], campaign.items["rejected"]
    monkeypatch.setattr(type(store.blind.scoring), "hidden_items", lambda self, person: frozenset(hidden))
    built = build(store, ONLY_ONE, tmp_path / "out", person="AA")
    items = {item["item"]: item for item in Facts.read(built.folder).items}
    for item in hidden:
        known = {name: value for name, value in items[item].items() if value not in (None, "", [])}
        assert known == {"item": item, "out": "in a blind session of the person who made the catalogue"}
    assert built.numbers["spectra_of_objects"] == 4
    assert b"spec-02" not in b"".join(path.read_bytes() for path in built.folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("undrawn")
def test_simulated_spectra_are_rows_only_if_that_is_wished(store: Store, tmp_path: Path) -> None:
    built = build(store, replace(ONLY_ONE, simulated=True), tmp_path / "out")
    assert (built.numbers["objects"], built.numbers["flags"]["S"]) == (4, 1)
    assert "**1 object is simulated, not observed.**" in (built.folder / "methods.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_only_a_catalogue_is_replaced_and_only_if_that_is_wished(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    build(store, ONLY_ONE, target)
    before = hashes(target)
    with pytest.raises(CatalogueError, match="found a catalogue"):
        build(store, ONLY_ONE, target)
    foreign = tmp_path / "mine"
    foreign.mkdir()
    with pytest.raises(CatalogueError, match="no catalogue"):
        build(store, ONLY_ONE, foreign, replace=True)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exports, "flush", full)
    with pytest.raises(OSError, match="No space"):
        build(store, ONLY_ONE, target, replace=True)
    assert hashes(target) == before
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == ["out"]


def test_facts_that_the_database_has_otherwise_now_are_named(store: Store, copy: Path, campaign: Campaign) -> None:
    known = tasks.load()
    assert compare(store, copy, known) == []
    approve(store, campaign.items["open"], confirmed=1)
    assert {difference.path for difference in compare(store, copy, known)} >= {"data/items.jsonl", "data/spectra.jsonl"}
    with pytest.raises(CatalogueError, match="class 'cv', expected one of wd"):
        compare(store, copy, {"wd": known["wd"]})
