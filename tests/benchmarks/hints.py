"""How often each kind of hint is right, and how much of what is there it finds.

    python -m tests.benchmarks.hints FOLDER            real spectra of both halves, and simulated lines
    python -m tests.benchmarks.hints FOLDER --write    and store the promises and the tables of docs/hints.md
    python -m tests.benchmarks.hints FOLDER --wrong    and list every wrong hint

``FOLDER`` has labelled spectra and a MANIFEST.csv. ``hint_truth.toml`` says what is certain about them. Each spectrum
is zoomed into at every feature of every task, so that each class is compared with its look-alikes. Bounds were chosen
on the half "choose"; what is promised is from the half "report".
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agent.hints import HOT_ABSORPTION, ONE_VELOCITY, Hint, hints
from agent.hints.claims import Claim, claims_of, compare
from agent.hints.evidence import HOT, Evidence, evidence
from agent.hints.promises import COOL, ENOUGH, FILE, Promise, part_of
from agent.lines import bands, convert, lines, sky_bands
from agent.measure import Undefined, rest
from agent.measure.blends import LineMeasurement, measure_line, region_around
from agent.measure.peaks import TwoMaxima, two_maxima
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Zoom
from tests.benchmarks import faults, redshifts
from tests.benchmarks.real_spectra import RealSpectrum, real_spectra
from tests.benchmarks.results import Results, command_line, markdown

TRUTH = Path(__file__).with_name("hint_truth.toml")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "hints.md"
INTERSTELLAR = ("Na D1", "Na D2", "Ca II K", "Ca II H")
BALMER = ("Hα", "Hβ", "Hγ", "Hδ")
KINDS = (
    "emission",
    "absorption",
    HOT_ABSORPTION,
    "width",
    "two maxima",
    "velocity",
    "band",
    "no band",
    "none",
    "claim",
    "contradiction",
    "break",
)
OF_PARTS = ("emission", "absorption", HOT_ABSORPTION, "velocity")  # kinds that are promised by line and class too
SPECIES = {entry.name: entry.species for entry in (*lines(), *bands())}
MOLECULES = ("TiO", "C2", "CN", "CaH", "ZrO", "VO")


@dataclass
class Counts:
    """Right and wrong hints, and features that no hint reports, by kind."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    wrong_ones: list[str] = field(default_factory=list)

    def add(self, kind: str, true: bool, what: str = "") -> None:
        (self.right if true else self.wrong)[kind] += 1
        if not true and what:
            self.wrong_ones.append(f"{kind}: {what}")

    def promise(self, kind: str) -> Promise:
        return Promise(self.right[kind], self.wrong[kind], self.missed[kind])


class Truth:
    """What is certain about one spectrum."""

    def __init__(self, group: Mapping[str, Any]) -> None:
        self.group = group

    def line(self, name: str, sign: str) -> bool | None:
        """Whether a line is in emission, or absorption; None if that is unknown."""
        group = self.group
        if name in group.get(f"no_{sign}_of", ()):
            return False
        if name in group.get("unsure", ()):
            return None
        if name in group.get(sign, ()):
            return True
        if sign == "absorption" and name in INTERSTELLAR:
            return None
        other = "absorption" if sign == "emission" else "emission"
        if group.get(f"no_{sign}") == "all" or name in (*group.get(f"no_{sign}_of", ()), *group.get(other, ())):
            return False
        return None

    def band(self, species: str) -> bool | None:
        if species in self.group.get("bands", ()):
            return True
        return False if species in self.group.get("no_bands", ()) else None

    def flag(self, name: str) -> bool | None:
        """Return ``broad``, ``two_maxima`` or ``break``."""
        value: bool | None = self.group.get(name)
        return value

    def claim(self, claim: Claim) -> bool | None:
        """Whether the positive form of a claim is true."""
        match claim.property:
            case "emission" | "absorption":
                return self.line(claim.subject, claim.property)
            case "band":
                return self.band(claim.subject)
            case "break":
                return self.flag("break")
            case "two maxima":
                known = self.flag("two_maxima")
                return known if known is False or claim.subject in BALMER else None
            case "broad" | "narrow":
                known = self.flag("broad")
                if known is None or not self.line(claim.subject, "emission"):
                    return None
                return known is (claim.property == "broad")


def truth_of(found: RealSpectrum, groups: list[Mapping[str, Any]]) -> Truth | None:
    """Return the first group that fits; None if nothing is certain."""
    for group in groups:
        if (
            found.label in group["classes"]
            and found.source in group.get("sources", [found.source])
            and (found.spectrum.redshift or not group.get("known_z"))
            and any(part in found.path for part in group.get("files", [""]))
        ):
            return Truth(group)
    return None


def zooms(spectrum: Spectrum) -> Iterator[tuple[Zoom, Any]]:
    """A zoom into each feature of each task, with its task."""
    for task in load().values():
        for number, feature in enumerate(task.features):
            if feature.kind == "slope":
                continue
            z = spectrum.redshift or 0.0
            frame = "rest" if spectrum.redshift and spectrum.frame == "observed" else spectrum.frame
            window = [convert(w, feature.medium, spectrum.medium) for w in feature.window]
            arguments = {"label": feature.name.split(" weak")[0].split(" strong")[0], "wavelength_range": window}
            yield (
                Zoom(f"z{number}", arguments, frame=frame, z=z if frame == "rest" else 0.0, medium=spectrum.medium),
                task,
            )


def count(found: RealSpectrum, truth: Truth, counts: Counts) -> None:
    """Compare every hint on every zoom of a spectrum with the truth; a hint that several zooms repeat counts once."""
    given: dict[tuple[str, str], Hint] = {}
    undefined: set[str] = set()
    zoomed: set[str] = set()
    for zoom, task in zooms(found.spectrum):
        for hint in hints(found.spectrum, zoom, task):
            given.setdefault((hint.kind, hint.subject), hint)
            if hint.kind == "line":
                zoomed.add(hint.subject)
            if hint.kind in ("undefined", "snr", "coverage"):
                undefined.add(hint.subject)
    data = evidence(rest(found.spectrum))
    for (kind, subject), hint in given.items():
        true = _is_true(kind, subject, hint, truth, given, data)
        if true is not None:
            counts.add(kind, true, f"{subject} in {found.path}: {hint.text}")
            if kind in OF_PARTS:
                for part in (subject, COOL) if data.cool else (subject,):
                    counts.add(part_of(kind, part), true)
    for name in zoomed - undefined:
        for sign in ("emission", "absorption"):
            kind = HOT_ABSORPTION if sign == "absorption" and SPECIES[name] in HOT else sign
            counts.missed[kind] += bool(truth.line(name, sign)) and (kind, name) not in given
        if truth.line(name, "emission") is False and truth.line(name, "absorption") is False:
            counts.missed["none"] += ("none", name) not in given
    for species in MOLECULES:
        judged = any(kind in ("head", "band", "no band") and subject == species for kind, subject in given)
        counts.missed["band"] += judged and truth.band(species) is True and ("band", species) not in given
        counts.missed["no band"] += judged and truth.band(species) is False and ("no band", species) not in given
    if truth.flag("two_maxima"):
        counts.missed["two maxima"] += not any(("two maxima", name) in given for name in BALMER)


def _is_true(
    kind: str, subject: str, hint: Hint, truth: Truth, given: Mapping[tuple[str, str], Hint], data: Evidence
) -> bool | None:
    if kind in ("emission", "absorption", HOT_ABSORPTION):
        return truth.line(subject, kind.split(",")[0])
    if kind == "none":
        either = [truth.line(subject, sign) for sign in ("emission", "absorption")]
        return False if True in either else True if either == [False, False] else None
    if kind == "band":
        return truth.band(subject)
    if kind == "no band":
        known = truth.band(subject)
        return None if known is None else not known
    if kind == "two maxima":
        known = truth.flag("two_maxima")
        return known if known is False or subject in BALMER else None
    if kind == "velocity":
        return _is_one_velocity(subject, data, truth)
    if kind == "width":
        return _width_is_true(subject, hint, truth, given)
    return None


def _is_one_velocity(subject: str, data: Evidence, truth: Truth) -> bool | None:
    """Whether centroids of the line and of the first other certain Balmer line, measured without a fit, are less than
    100 km/s apart, errors of the centroids aside; None where that cannot be told.
    """
    here = data.named(subject).detection
    others = (data.named(name).detection for name in BALMER if name != subject)
    other = next((o for o in others if o is not None and here is not None and o.emission is here.emission), None)
    if here is None or other is None:
        return None
    sign = "emission" if here.emission else "absorption"
    if truth.line(subject, sign) is False or truth.line(other.line.name, sign) is False:
        return False
    centroids = [_centroid(data, measured) for measured in (here, other)]
    if centroids[0] is None or centroids[1] is None:
        return None
    (first, error), (second, other_error) = centroids
    return bool(abs(first - second) < ONE_VELOCITY + 2 * np.hypot(error, other_error))


def _centroid(data: Evidence, measured: LineMeasurement) -> tuple[float, float] | None:
    """Return the centroid of a line's inner half and its error in km/s: the mean velocity weighted by what the line
    adds to or takes from the straight line through its two sides, within 0.7 FWHM of its deepest or highest pixels.
    """
    line, fwhm = measured.line, measured.fwhm.value
    region = region_around(data.spectrum, line.at(data.spectrum.medium), 6 * fwhm + 600)
    if region is None:
        return None
    v, flux = region.velocity, region.flux
    middle = measured.velocity.value
    sides = (np.abs(v - middle) > 1.2 * fwhm) & (np.abs(v - middle) < 2.5 * fwhm + 200)
    inner = np.abs(v - middle) < 0.7 * fwhm
    if sides.sum() < 6 or inner.sum() < 3:
        return None
    level = np.polynomial.Polynomial.fit(v[sides], flux[sides], 1)
    weight = (flux - level(v)) * (1 if measured.emission else -1)
    inner &= weight > 0
    if inner.sum() < 3:
        return None
    total = weight[inner].sum()
    centre = float((weight * v)[inner].sum() / total)
    error = float(np.sqrt((((v[inner] - centre) / region.weight[inner]) ** 2).sum()) / total)
    return centre, error


def _width_is_true(subject: str, hint: Hint, truth: Truth, given: Mapping[tuple[str, str], Hint]) -> bool | None:
    """A width of a line that is not there is wrong, and one on the wrong side of 600 km/s in emission by 2σ."""
    emission = ("emission", subject) in given
    there = truth.line(subject, "emission" if emission else "absorption")
    broad = truth.flag("broad")
    if not there or not emission or broad is None:
        return False if there is False else None
    numbers = re.findall(r"[\d.\N{NARROW NO-BREAK SPACE}]+", hint.text.removeprefix("FWHM "))
    value, error = (float(n.replace("\N{NARROW NO-BREAK SPACE}", "")) for n in numbers[:2])
    return value + 2 * error > 600 if broad else value - 2 * error < 600


def count_claims(found: RealSpectrum, truth: Truth, counts: Counts) -> None:
    """Compare sentences that are known to be true or false with the data."""
    data = Evidence(rest(found.spectrum))
    for sentence in sentences():
        for claim in claims_of(sentence):
            known = truth.claim(claim)
            if known is None:
                continue
            true = known is claim.positive
            compared = compare(claim, data)
            verdict, what = compared.verdict, f"{claim} in {found.path}: {compared.reason}"
            if claim.property == "break":
                if verdict == "cannot be told":
                    counts.missed["break"] += 1
                else:
                    counts.add("break", (verdict == "agrees") is true, what)
            if verdict == "agrees":
                counts.add("claim", true, what)
            elif verdict == "contradicts":
                counts.add("contradiction", not true, what)
            else:
                counts.missed["claim"] += true
                counts.missed["contradiction"] += not true


def sentences() -> Iterator[str]:
    """Sentences as thoughts state them, about every line and molecule that the truth file knows."""
    for name in ("Hα", "Hβ", "Hγ", "He I 4471", "He I 5876", "He II 4686", "[O III] 5007", "Ca II K"):
        yield f"The window shows {name} in emission."
        yield f"There is no {name} emission."
        yield f"{name} appears as a clear absorption line."
    for name in ("Hα", "Hβ"):
        yield f"{name} is double-peaked."
        yield f"{name} is broad."
    for species in MOLECULES:
        yield f"Strong {species} bands are present."
        yield f"No {species} bands are seen."
    yield "The spectrum has a strong 4000 Å break."


def overlaps(found: RealSpectrum, counts: Counts) -> None:
    """Whether the pixels of each sky line and telluric band are noisier, relative to the flux, than those around."""
    spectrum = found.spectrum
    if spectrum.errors != "measured" or spectrum.frame != "observed":
        return
    seen = (spectrum.ivar > 0) & (spectrum.flux > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(seen, 1 / np.sqrt(spectrum.ivar) / spectrum.flux, np.nan)
    for band in sky_bands(spectrum.survey):
        lo, hi = band.window(spectrum.medium)
        inside = (spectrum.wavelength >= lo) & (spectrum.wavelength <= hi) & seen
        reach = max(40.0, hi - lo)
        around = (spectrum.wavelength > lo - reach) & (spectrum.wavelength < hi + reach) & seen & ~inside
        if inside.sum() < 3 or around.sum() < 10 or np.nanmedian(relative[around]) > 0.3:
            continue
        noisier = bool(np.nanmax(relative[inside]) > 1.05 * np.nanmedian(relative[around]))
        counts.add(band.kind, noisier, f"{band.name} in {found.path}")


def simulated(report: Results, seeds: int) -> None:
    """Lines with known truth on a flat continuum with SDSS sampling."""
    halpha = next(line for line in lines() if line.name == "Hα")
    made = width_right = sign_right = two_found = two_false = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        fwhm, snr = float(np.exp(rng.uniform(np.log(250), np.log(4000)))), float(rng.uniform(10, 60))
        height = float(rng.choice([-1, 1]) * rng.uniform(0.15, 0.9) * (1 if fwhm < 2000 else 0.9))
        measured = measure_line(_with_lines([(0.0, height, fwhm)], snr, rng), halpha)
        if isinstance(measured, Undefined) or measured.amplitude.significance < 6:
            continue
        made += 1
        width_right += abs(measured.fwhm.value - fwhm) < 3 * measured.fwhm.error + 0.1 * fwhm
        sign_right += measured.emission is (height > 0)
        # One maximum, and two, at the same S/N.
        one = _with_lines([(0.0, abs(height) * 3, fwhm)], snr, rng)
        two_false += isinstance(two_maxima(one, halpha), TwoMaxima)
        half = float(rng.uniform(300, 800))
        ratio = float(rng.uniform(0.6, 1.0))
        pair = [(-half, 2.0, 0.9 * half), (half, 2.0 * ratio, 0.9 * half)]
        two_found += isinstance(two_maxima(_with_lines(pair, snr, rng), halpha), TwoMaxima)
    table = report.table({"simulated Hα, known truth": "", "right": "{}", "of": "{}"})
    table.row("sign of a line of 6σ", sign_right, made)
    table.row("FWHM within 10 % + 3σ", width_right, made)
    table.row("two maxima 600 to 1600 km/s apart, found", two_found, made)
    table.row("one maximum, not called two", made - two_false, made)


def _with_lines(parts: list[tuple[float, float, float]], snr: float, rng: np.random.Generator) -> Spectrum:
    """A flat continuum with Gaussians (velocity km/s, height, FWHM km/s) at Hα, in vacuum, R about 2000."""
    wavelength = 10 ** np.arange(np.log10(6000), np.log10(7200), 1e-4)
    velocity = (wavelength / 6564.614 - 1) * 299_792.458
    flux = np.ones_like(wavelength)
    for centre, height, fwhm in parts:
        flux += height * np.exp(-0.5 * ((velocity - centre) * 2.3548 / fwhm) ** 2)
    flux += rng.standard_normal(flux.size) / snr
    return Spectrum(wavelength, flux, np.full(flux.shape, snr**2), redshift=0.0)


def add_table(report: Results, counts: Counts, kinds: tuple[str, ...]) -> None:
    numbers = {"right": "{}", "wrong": "{}", "missed": "{}", "precision": "{:.3f}", "recall": "{:.3f}"}
    table = report.table({"kind of hint": "", **numbers})
    for kind in kinds:
        promise = counts.promise(kind)
        shown = ["–" if value is None else value for value in (promise.precision, promise.recall)]
        table.row(kind, promise.right, promise.wrong, promise.missed, *shown)


def parts_of(counts: Counts) -> list[str]:
    """Return the lines and classes of stars of each kind that were counted often enough for a promise of their own."""
    given = counts.right + counts.wrong
    return sorted(key for key, number in given.items() if ": " in key and number >= ENOUGH)


def add_overlaps(report: Results, counts: Counts) -> None:
    table = report.table({"overlap": "", "noisier than around": "{}", "of": "{}"})
    for kind in ("sky line", "telluric", "arm join"):
        table.row(kind, counts.right[kind], counts.right[kind] + counts.wrong[kind])


def write(counts: Mapping[str, Counts], report: Results) -> None:
    """Store the promises of the half "report", and put the tables into the page."""
    text = ["# Written by `python -m tests.benchmarks.hints FOLDER --write`; not to be edited by hand.", ""]
    counted = counts["report"]
    for kind in (*KINDS, *parts_of(counted)):
        promise = counted.promise(kind)
        text += [
            f'["{kind}"]',
            f"right = {promise.right}",
            f"wrong = {promise.wrong}",
            f"missed = {promise.missed}",
            "",
        ]
    FILE.write_text("\n".join(text), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- figures -->", "<!-- end of figures -->"
    before, after = page.split(begin)[0], page.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n\n{markdown(report.blocks)}\n\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--half", choices=["choose", "report"], help="one half only")
    parser.add_argument("--seeds", type=int, default=300, help="simulated lines")
    parser.add_argument("--wrong", action="store_true", help="list wrong hints")
    parser.add_argument("--write", action="store_true", help="store the promises and the tables of docs/hints.md")
    options = parser.parse_args()
    with TRUTH.open("rb") as opened:
        groups = tomllib.load(opened)["group"]
    counts = {half: Counts() for half in ("choose", "report") if options.half in (None, half)}
    spectra: Counter[str] = Counter()
    redshifts_given: redshifts.Tally = Counter()
    for found in real_spectra(options.folder):
        if found.half not in counts:
            continue
        if found.half == "report":
            redshifts.count(found, redshifts_given)
        overlaps(found, counts[found.half])
        truth = truth_of(found, groups)
        if truth is not None:
            spectra[found.half] += 1
            count(found, truth, counts[found.half])
            count_claims(found, truth, counts[found.half])
    report = Results()
    for half, counted in counts.items():
        title = "on which the promises rest" if half == "report" else "on which the bounds were chosen"
        report.text(f"### {spectra[half]} real spectra of the half “{half}”, {title}")
        add_table(report, counted, KINDS)
        report.text("By line and class of stars, where there were five or more:")
        add_table(report, counted, tuple(parts_of(counted)))
        add_overlaps(report, counted)
    report.text("### Simulated lines")
    simulated(report, options.seeds)
    report.text("### Suggested redshifts, half “report”")
    redshifts.count_simulated(redshifts_given, min(20, options.seeds))
    redshifts.add_table(report, redshifts_given)
    report.text("### Faults of the data: inserted into simulated spectra, and in real ones of the half “report”")
    faults.add_simulated(report, min(40, options.seeds))
    faults.add_real(report, options.folder)
    if options.wrong:
        for half, counted in counts.items():
            print(*(f"{half}: {one}" for one in sorted(counted.wrong_ones)), sep="\n")
    if options.write:
        write(counts, report)


if __name__ == "__main__":
    main()
