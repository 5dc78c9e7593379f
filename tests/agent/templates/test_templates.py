"""Template spectra: grid, file format, ranking with velocity, building, the bundled library and the command."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import app
from agent.lines import convert
from agent.measure import rest
from agent.measure.profile import SPEED_OF_LIGHT
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.templates import About, Library, Template, TemplateError, bundled, grid, load_all, rank
from agent.templates.build import COLUMNS, BuildError, build, rows_of, rows_of_folder
from agent.templates.library import BUNDLED, EXTRAGALACTIC, read, write
from agent.templates.rank import SYSTEMATIC

FOLDER = BUNDLED.parent
PERMISSIVE = {"MIT", "BSD-3-Clause"}


def as_seen(
    template: Template, velocity: float = 0.0, snr: float = 50.0, tilt: float = 0.0, **other: object
) -> Spectrum:
    """A template as a survey would see it: moved, tilted, noisy; vacuum, observed frame."""
    seen = np.isfinite(template.flux)
    wavelength = template.wavelength * (1 + velocity / SPEED_OF_LIGHT)
    flux = np.where(seen, template.flux, 0.0) * (1 + tilt * (wavelength - 6000.0) / 3000.0) * 3e-16
    sigma = np.median(flux[seen]) / snr
    noisy = flux + np.random.default_rng(3).normal(0.0, sigma, flux.size)
    return replace(Spectrum(wavelength, noisy, np.where(seen, sigma**-2, 0.0)), **other)


def named(name: str) -> Template:
    return next(t for t in bundled().templates if t.about.name == name)


# ---- the grid


def test_rebinning_keeps_the_flux_and_its_information() -> None:
    wavelength = np.arange(4000.0, 7000.0, 0.25)
    flux = 2.0 + np.sin(wavelength / 40.0)
    first, rebinned, ivar = grid.rebin(Spectrum(wavelength, flux, np.full(wavelength.size, 4.0)))
    centres = grid.wavelengths(first, first + rebinned.size)
    inside = (centres > 4010) & (centres < 6990)
    assert rebinned[inside] == pytest.approx(2.0 + np.sin(centres[inside] / 40.0), abs=2e-3)
    # As many pixels of 0.25 Å as fall into one of the grid's.
    assert ivar[inside] == pytest.approx(4.0 * centres[inside] * np.log(10) * grid.STEP / 0.25, rel=0.01)


def test_wide_pixels_gain_no_information() -> None:
    wavelength = np.arange(4000.0, 7000.0, 10.0)
    _, _, ivar = grid.rebin(Spectrum(wavelength, np.ones(wavelength.size), np.full(wavelength.size, 4.0)))
    assert ivar.sum() == pytest.approx(4.0 * wavelength.size, rel=0.02)


def test_gaps_stay_gaps_and_absurd_ivar_erases_nothing() -> None:
    wavelength = np.arange(4000.0, 7000.0, 1.0)
    ivar = np.where((wavelength > 5000) & (wavelength < 5200), 0.0, 4.0)
    ivar[10] = 1e60
    first, flux, out = grid.rebin(Spectrum(wavelength, np.ones(wavelength.size), ivar))
    centres = grid.wavelengths(first, first + flux.size)
    gap = (centres > 5003) & (centres < 5197)
    assert not out[gap].any()
    assert (out[centres > 5203][:-2] > 0).all()


# ---- ranking


@pytest.mark.parametrize("velocity", [-412.0, 20.0, 777.0])
@pytest.mark.parametrize("name", ["HD 146051", "mean A3 dwarf", "WD 0148+467", "MILES 0720"])
def test_a_template_is_found_again_at_its_velocity(name: str, velocity: float) -> None:
    template = named(name)
    best = rank(as_seen(template, velocity, tilt=0.5), bundled())[0]
    assert bundled().templates[best.place].about.name == name
    assert best.error is not None
    assert best.velocity == pytest.approx(velocity, abs=2 * best.error)
    assert SYSTEMATIC <= best.error < 40.0
    assert best.overlap > 0.9


@pytest.mark.parametrize(("name", "kind"), [("mean A3 dwarf", "A"), ("Vega", "A"), ("mean F4 dwarf", "F")])
def test_a_bad_red_end_does_not_favour_templates_that_end_before_it(name: str, kind: str) -> None:
    """A library spectrum at rest with a telluric A band and fringes, where the templates of MILES have no data."""
    seen = as_seen(named(name), 20.0, snr=150.0, frame="rest")
    wavelength = seen.wavelength
    fringes = np.where(wavelength > 8300.0, 1.0 + 0.25 * np.sin(wavelength / 40.0), 1.0)
    band = np.where((wavelength > 7590.0) & (wavelength < 7700.0), 0.4, 1.0)
    own = bundled().templates.index(named(name))
    best = rank(replace(seen, flux=seen.flux * fringes * band), bundled(), [own])[0]
    assert bundled().templates[best.place].about.kind == kind


def test_a_spectrum_of_the_red_alone_is_ranked_with_its_full_weight() -> None:
    seen = as_seen(named("HD 146051"), 20.0, snr=5.0)
    red = seen.wavelength > 7000.0
    best = rank(Spectrum(seen.wavelength[red], seen.flux[red], seen.ivar[red]), bundled())[0]
    assert bundled().templates[best.place].about.kind == "M giant"
    assert best.error is not None
    assert best.error < 20.0


def test_the_model_is_the_spectrum() -> None:
    template = named("mean G2 dwarf")
    spectrum = as_seen(template, 120.0, snr=200.0, tilt=0.4)
    best = rank(spectrum, bundled())[0]
    model = template.flux * best.multiplier(template.wavelength)
    there = np.interp(spectrum.wavelength, template.wavelength * (1 + best.z), model)
    inside = (spectrum.wavelength > 4000) & (spectrum.wavelength < 9000)
    assert np.median(np.abs(spectrum.flux[inside] / there[inside] - 1.0)) < 0.01


def test_air_and_vacuum_give_one_velocity() -> None:
    vacuum = as_seen(named("mean K2 dwarf"), 60.0)
    air = replace(vacuum, wavelength=convert(vacuum.wavelength, "vacuum", "air"), medium="air")
    one, other = (rank(spectrum, bundled())[0] for spectrum in (vacuum, air))
    assert one.place == other.place
    assert one.velocity == pytest.approx(other.velocity, abs=1.0)


def test_redshifts_of_galaxies_are_used_and_those_of_stars_tried_at_zero() -> None:
    spectrum = as_seen(named("HD 146051"), 45.0, redshift=0.31)
    best = rank(spectrum, bundled())[0]
    assert bundled().templates[best.place].about.kind == "M giant"
    assert best.velocity == pytest.approx(45.0, abs=5.0)
    galaxy = named("SDSS 026, late-type galaxy")
    spectrum = as_seen(galaxy, 0.1 * SPEED_OF_LIGHT, redshift=0.1003)
    best = rank(spectrum, bundled())[0]
    assert bundled().templates[best.place].about.kind in EXTRAGALACTIC
    assert best.z == pytest.approx(0.1, abs=5e-5)


def test_templates_can_be_left_out_and_none_may_fit() -> None:
    template = named("mean A3 dwarf")
    everything = range(len(bundled().templates))
    assert rank(as_seen(template), bundled(), without=list(everything)) == []
    short = Spectrum(np.linspace(6400.0, 6700.0, 300), np.ones(300), np.ones(300))
    assert rank(replace(short, ivar=np.zeros(300)), bundled()) == []


def test_the_velocities_of_a_featureless_spectrum_scatter() -> None:
    wavelength = grid.wavelengths(5700, 9500)
    noise = np.random.default_rng(2).normal(0.0, 0.02, wavelength.size)
    found = rank(Spectrum(wavelength, (wavelength / 5000.0) ** -3 + noise, np.full(wavelength.size, 2500.0)), bundled())
    assert np.std([match.velocity for match in found[:8]]) > 100.0


@pytest.mark.parametrize(("kind", "expected"), [("wd", "WD"), ("b", "B")])
def test_simulated_stars_find_their_class(kind: str, expected: str) -> None:
    best = rank(simulate(kind, "SDSS", 40.0, 5), bundled())[0]
    assert bundled().templates[best.place].about.kind == expected


# ---- the file


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    flux = np.array([1.0, np.nan, 0.5, 2.0])
    about = About(id="a", name="Ä", kind="mine", licence="own", velocity=3.5)
    write(tmp_path / "x.npz", [Template(about, 5900, flux), Template(replace(about, id="b"), 0, flux[:2])])
    found = read(tmp_path / "x.npz")
    assert found["a"].about == about
    assert np.array_equal(found["a"].flux, flux, equal_nan=True)
    assert found["b"].flux.size == 2
    assert found["a"].coverage[0] == pytest.approx(10**3.59)


@pytest.mark.parametrize(
    ("arrays", "wrong"),
    [
        ({}, "templates build"),
        ({"first": [0]}, "belong together"),
        ({"first": [grid.PIXELS - 1, 0]}, "outside the grid"),
        ({"entries": [{"id": "a", "name": "x"}, {"id": "b"}]}, "id, name and kind"),
        ({"entries": [{"id": "a", "name": "x", "kind": "y"}] * 2}, "each id once"),
        ({"entries": [{"id": c, "name": "x", "kind": "y", "velocity": "fast"} for c in "ab"]}, "a float"),
    ],
)
def test_a_damaged_file_is_named_with_what_was_expected(tmp_path: Path, arrays: dict, wrong: str) -> None:
    file = tmp_path / "bad.npz"
    if not arrays:
        file.write_bytes(b"PK nothing")
    else:
        entries = arrays.pop("entries", [{"id": c, "name": c, "kind": "k"} for c in "ab"])
        info = {"schema": "spec-o3/templates/1", "templates": entries}
        content = {"first": [0, 0], "size": [2, 2], "flux": np.ones(4, dtype="<f2")} | arrays
        np.savez(file, **content, info=np.frombuffer(json.dumps(info).encode(), dtype="u1"))
    with pytest.raises(TemplateError, match=wrong) as error:
        read(file)
    assert "bad.npz" in str(error.value)


def test_a_file_cannot_replace_a_bundled_template(tmp_path: Path) -> None:
    taken = bundled().templates[0].about
    write(tmp_path / "own.npz", [Template(taken, 5900, np.ones(100))])
    library, problems = load_all([tmp_path])
    assert len(library.templates) == len(bundled().templates)
    assert "already used by bundled.npz" in str(problems[0])


# ---- building


def written(folder: Path, name: str, spectrum: Spectrum) -> Path:
    """Write a spectrum as text: wavelength, flux, error."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    seen = spectrum.ivar > 0
    table = np.stack([spectrum.wavelength[seen], spectrum.flux[seen], spectrum.ivar[seen] ** -0.5], axis=1)
    np.savetxt(path, table, header="wavelength flux error")
    return path


def test_a_folder_is_built_by_the_names_of_its_folders(tmp_path: Path) -> None:
    spectrum = as_seen(named("mean A3 dwarf"))
    written(tmp_path, "hot/one.txt", spectrum)
    written(tmp_path, "hot/two.txt", spectrum)
    built = list(build(tmp_path, rows_of_folder(tmp_path)))
    assert [(b.template.about.kind, b.template.about.name) for b in built] == [("hot", "one"), ("hot", "two")]


def test_a_manifest_sets_medium_velocity_and_range(tmp_path: Path) -> None:
    template = named("mean A3 dwarf")
    written(tmp_path, "star.txt", as_seen(template, 300.0, snr=500.0))
    manifest = tmp_path / "list.csv"
    manifest.write_text(
        "path,kind,name,medium,frame,velocity,lo,hi\nstar.txt,A,my A star,vacuum,observed,300,4000,8000\n",
        encoding="utf-8",
    )
    (built,) = build(tmp_path, rows_of(manifest))
    made = built.template
    assert made.about.velocity == 300.0
    assert made.about.id == "my-a-star"
    lo, hi = made.coverage
    assert 3995 < lo < 4000
    assert 7985 < hi < 8000
    known = np.interp(made.wavelength, template.wavelength, template.flux)
    ratio = made.flux / known
    assert np.nanstd(ratio / np.nanmedian(ratio)) < 0.02


def test_files_that_give_no_template_are_listed_with_the_reason(tmp_path: Path) -> None:
    written(tmp_path, "a/star.txt", as_seen(named("mean A3 dwarf")))
    (tmp_path / "a" / "note.txt").write_text("nothing here", encoding="utf-8")
    rows = [*rows_of_folder(tmp_path), {"path": "a/star.txt", "kind": "a"}, {"path": "gone.fits", "kind": "a"}]
    rows.append({"path": "a/star.txt", "kind": "a", "id": "z", "medium": "water"})
    problems = {b.path: b.problem for b in build(tmp_path, rows) if b.template is None}
    assert set(problems) == {"a/note.txt", "a/star.txt", "gone.fits"}
    assert "water" in problems["a/star.txt"]


@pytest.mark.parametrize(("text", "wrong"), [("kind\nA\n", "no column 'path'"), ("path,kind\nx.fits,\n", "no kind")])
def test_a_manifest_without_what_is_needed_is_refused(tmp_path: Path, text: str, wrong: str) -> None:
    manifest = tmp_path / "list.csv"
    manifest.write_text(text, encoding="utf-8")
    with pytest.raises(BuildError, match=wrong):
        rows_of(manifest)


# ---- the bundled library


def test_the_bundled_library_is_licensed_small_and_has_the_sequences_of_its_manifest() -> None:
    text = (FOLDER / "LICENSES.md").read_text(encoding="utf-8")
    for about in (template.about for template in bundled().templates):
        assert about.licence in PERMISSIVE, about.id
        assert about.citation in text, about.id
        assert about.repository in text, about.id
        assert about.medium in ("air", "vacuum"), about.id
        assert about.subtype, about.id
    assert BUNDLED.stat().st_size < 1_000_000
    kinds = {template.about.kind for template in bundled().templates}
    assert kinds >= {"O", "B", "A", "F", "G", "K", "M dwarf", "M giant", "carbon", "S", "WD", "hot subdwarf"}
    assert kinds >= {"WR", "galaxy", "QSO"}
    white_dwarfs = {t.about.subtype.split(",")[0] for t in bundled().templates if t.about.kind == "WD"}
    assert white_dwarfs >= {"DA", "DB", "DO", "DQ", "DC"}
    with (FOLDER / "bundled.csv").open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    assert tuple(rows[0]) == COLUMNS
    assert [row["path"] for row in rows] == [template.about.file for template in bundled().templates]
    assert [row["kind"] for row in rows] == [template.about.kind for template in bundled().templates]


def test_a_template_can_be_measured_as_a_spectrum() -> None:
    spectrum = named("HD 5820").spectrum()
    assert spectrum.frame == "rest"
    assert rest(spectrum) is spectrum
    assert (spectrum.ivar == 0).any()
    assert Library(()).matrix.shape == (0, grid.PIXELS)


def star(folder: Path, name: str, template: str = "mean A3 dwarf") -> Path:
    """Write a template as a text spectrum."""
    found = next(t for t in bundled().templates if t.about.name == template)
    seen = np.isfinite(found.flux)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    flux = found.flux[seen]
    table = np.stack([found.wavelength[seen], flux, np.full(flux.size, 0.01)], axis=1)
    np.savetxt(path, table, header="wavelength_vacuum flux error")
    return path


def test_list_names_class_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["templates", "list"]) == 0
    text = capsys.readouterr().out
    assert "HD 146051" in text
    assert "STELIB" in text
    assert app.main(["templates", "list", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["templates"]
    assert len(entries) == len(bundled().templates)
    assert entries[0]["licence"]
    assert entries[0]["coverage"][0] < entries[0]["coverage"][1]


def test_rank_prints_the_best_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = star(tmp_path, "star.txt")
    assert app.main(["templates", "rank", str(path), "--json", "--number", "3"]) == 0
    found = json.loads(capsys.readouterr().out)["matches"]
    assert [match["rank"] for match in found] == [1, 2, 3]
    assert found[0]["name"] == "mean A3 dwarf"
    assert app.main(["templates", "rank", str(path)]) == 0
    assert "km/s" in capsys.readouterr().out


def test_build_writes_a_file_that_rank_uses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    star(tmp_path, "spectra/mine/odd.txt", "HD 146051")
    out = tmp_path / "own" / "own.npz"
    out.parent.mkdir()
    assert app.main(["templates", "build", "--from", str(tmp_path / "spectra"), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["templates"] == 1
    path = star(tmp_path, "star.txt", "HD 146051")
    command = ["templates", "rank", str(path), "--templates", str(out.parent), "--json"]
    assert app.main(command) == 0
    assert "mine" in [match["kind"] for match in json.loads(capsys.readouterr().out)["matches"][:2]]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["list", "--templates", "{0}/gone"], "found nothing, expected a folder"),
        (["rank", "{0}/gone.fits"], "gone.fits"),
        (["build", "--from", "{0}", "--out", "{0}/x.npz"], "no usable spectrum"),
        (["build", "--from", "{0}", "--manifest", "{0}/gone.csv", "--out", "{0}/x.npz"], "gone.csv"),
    ],
)
def test_what_cannot_run_says_why(tmp_path, capsys, arguments, wrong):
    try:
        status = app.main(["templates", *(a.format(tmp_path) for a in arguments)])
    except SystemExit as ended:  # refused when the options are read
        status = ended.code
    assert status == 2
    assert wrong in capsys.readouterr().err
