"""The review aids on labelled real spectra: templates, line velocities, nearest spectra, time.

    python -m tests.benchmarks.templates FOLDER [--half choose|report]

No spectrum is compared with a template of its own object. Order, error floor and overlap were chosen on the half
``choose``; the figures are of the half ``report``.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agent.hints.line_table import line_table
from agent.lines import convert
from agent.measure.profile import SPEED_OF_LIGHT
from agent.similarity import distances, shape_vector
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.templates import EXTRAGALACTIC, Library, Match, bundled, rank
from agent.templates.rank import STELLAR
from tests.benchmarks.real_spectra import RealSpectrum, object_of, real_spectra
from tests.benchmarks.results import Results, command_line

SHIFTS = (-350.0, -120.0, 75.0, 240.0)
"""km/s by which real spectra are shifted; none is a whole number of pixels."""
LEAST_SNR = 5.0

KINDS = (
    (r"STAR_O5V?|STAR_O9V|O_STAR.*", "O"),
    (r"B_STAR.*|STAR_B\d.*", "B"),
    (r"STAR_A(\d.*)?", "A"),
    (r"STAR_F\d?.*|FG_STAR", "F"),
    (r"STAR_G\d?.*", "G"),
    (r"STAR_K\d?.*|ACTIVE_K_DWARF|odd_C2_CN_STRONG_GIANT", "K"),
    (r"M_GIANT|M_SUPERGIANT|STAR_M\dIII|STAR_gM\d", "M giant"),
    (r"M_DWARF|dMe_FLARE_STAR|STAR_dM\d|STAR_M\dV?|STAR_M_subdwarf|M8.5.*", "M dwarf"),
    (r"CARBON_STAR|COMPOSITE_C_RICH_AGB", "carbon"),
    (r"S_STAR", "S"),
    (r"WD_.*", "WD"),
    (r"SUBDWARF_sd[OB]|HOT_SUBDWARF", "hot subdwarf"),
    (r"WOLF_RAYET.*", "WR"),
    (r"GALAXY.*|HII_GALAXY.*", "galaxy"),
    (r"QSO.*", "QSO"),
)
"""Class of the collection's manifest (a pattern) and class of the template that it should find."""
DOUBTFUL = {"spDR2-000", "spDR2-001", "spDR2-004", "spDR2-005", "m0853", "fg24_9", "fsa95_42", "LTT4364", "HD048682B"}
"""Files whose manifest class is known or suspected to be wrong (docs/review-aids.md)."""
NEXT = {
    ("O", "B"),
    ("B", "A"),
    ("A", "F"),
    ("F", "G"),
    ("G", "K"),
    ("K", "M dwarf"),
    ("K", "M giant"),
    ("S", "M giant"),
    ("B", "hot subdwarf"),
    ("O", "hot subdwarf"),
}
"""Classes that share a border; the second figure counts these as agreement too."""


@dataclass(frozen=True)
class Result:
    spectrum: Spectrum
    kind: str
    path: str
    found: list[Match]
    seconds: float


def kind_of(label: str) -> str | None:
    """Return the class of template for a manifest class; None if the label decides none."""
    return next((kind for pattern, kind in KINDS if re.fullmatch(pattern, label)), None)


def of_same_object(real: RealSpectrum, library: Library) -> list[int]:
    """Return the places of the templates made from the object's own spectra."""
    return [
        place
        for place, template in enumerate(library.templates)
        if object_of(template.about.file) == real.object
        or (real.source == "pyhammer_templates" and template.about.subtype == "O5")
    ]


def usable(folder: Path, half: str) -> list[tuple[RealSpectrum, str]]:
    """Return the labelled spectra of a half with S/N of at least ``LEAST_SNR`` and 1 000 Å, and their classes."""
    chosen = []
    for real in real_spectra(folder):
        kind, spectrum = kind_of(real.label), real.spectrum
        wide = spectrum.wavelength[-1] - spectrum.wavelength[0] > 1000.0
        # Files with estimated errors are library spectra, and good.
        clear = spectrum.errors == "estimated" or spectrum.snr_typical >= LEAST_SNR
        doubtful = any(name in real.path for name in DOUBTFUL)
        if real.half == half and kind is not None and wide and clear and not doubtful:
            chosen.append((real, kind))
    return chosen


def results(spectra: Sequence[tuple[RealSpectrum, str]], library: Library) -> list[Result]:
    """Rank all templates but those of the object itself for every spectrum."""
    made = []
    for real, kind in spectra:
        start = time.process_time()
        found = rank(real.spectrum, library, of_same_object(real, library))
        made.append(Result(real.spectrum, kind, real.path, found, time.process_time() - start))
    return made


def best_of(result: Result, library: Library) -> str:
    """Return the class of the best template; "none" if no template was ranked."""
    return library.templates[result.found[0].place].about.kind if result.found else "none"


def agrees(best: str, kind: str) -> bool:
    """Return whether the class is the right one or borders on it."""
    return best == kind or (best, kind) in NEXT or (kind, best) in NEXT


def add_agreement(report: Results, made: Sequence[Result], library: Library) -> None:
    """One row per class: spectra, right by the best template, right or bordering, and what was found instead."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for result in made:
        by_kind[result.kind].append(best_of(result, library))
    columns = {"class": "", "spectra": "{}", "best of the class": "{}", "or a bordering one": "{}", "others": ""}
    table = report.table(columns)
    groups = [(kind, [(best, kind) for best in found]) for kind, found in sorted(by_kind.items())]
    pairs = [pair for _, found in groups for pair in found]
    stars = [pair for pair in pairs if pair[1] not in EXTRAGALACTIC]
    for kind, found in [*groups, ("**all stars**", stars), ("**all**", pairs)]:
        others = Counter(best for best, right in found if best != right)
        names = ", ".join(f"{n} {best}" for best, n in others.most_common()) if kind in by_kind else ""
        near = sum(agrees(*pair) for pair in found)
        table.row(kind, len(found), sum(best == right for best, right in found), near, names)


def velocity_errors(spectra: Sequence[tuple[RealSpectrum, str]], library: Library) -> list[tuple[float, float | None]]:
    """Shift each spectrum by a known velocity; return (found minus true in km/s, stated error).

    The velocity found without the shift by the same template is subtracted, so that the template's own zero point
    drops out. NaN where no minimum was found.
    """
    measured = []
    for number, (real, _) in enumerate(spectra):
        spectrum, own = real.spectrum, of_same_object(real, library)
        before = rank(spectrum, library, own)
        if not before or before[0].error is None:
            continue
        shift = SHIFTS[number % len(SHIFTS)]
        after = {match.place: match for match in rank(moved(spectrum, shift), library, own)}
        match = after.get(before[0].place)
        if match is None or match.error is None:
            measured.append((float("nan"), None))
            continue
        measured.append((SPEED_OF_LIGHT * ((1 + match.z) / (1 + before[0].z) - 1) - shift, match.error))
    return measured


def against_the_file(made: Sequence[Result], library: Library) -> list[float]:
    """Return velocity minus c z of the file in km/s, for stars with S/N of 10 or more and a stellar redshift other than
    0 whose best template is of the right or a bordering class.
    """
    return [
        result.found[0].velocity - SPEED_OF_LIGHT * result.spectrum.redshift
        for result in made
        if result.kind not in EXTRAGALACTIC
        and result.spectrum.redshift
        and abs(result.spectrum.redshift) < STELLAR
        and result.spectrum.snr_typical >= 10.0
        and result.found
        and result.found[0].error is not None
        and agrees(best_of(result, library), result.kind)
    ]


def moved(spectrum: Spectrum, velocity: float) -> Spectrum:
    """Return the spectrum with the object receding faster by ``velocity`` km/s, its redshift unchanged."""
    vacuum = convert(spectrum.wavelength, spectrum.medium, "vacuum") * (1.0 + velocity / SPEED_OF_LIGHT)
    return replace(spectrum, wavelength=convert(vacuum, "vacuum", spectrum.medium))


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path, help="real files with a MANIFEST.csv")
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--wrong", action="store_true", help="list spectra whose best template is of another class")
    chosen = parser.parse_args()
    library = bundled()
    spectra = usable(chosen.folder, chosen.half)
    made = results(spectra, library)
    report = Results()
    report.text(
        f"{len(made)} spectra of {len({real.object for real, _ in spectra})} objects (the half `{chosen.half}`), "
        f"{len(library.templates)} templates."
    )
    add_agreement(report, made, library)
    add_velocities(report, velocity_errors(spectra, library), against_the_file(made, library))
    add_line_velocities(report, spectra)
    add_nearest(report, spectra)
    seconds = 1000 * np.array([result.seconds for result in made])
    low, high = np.percentile(seconds, [50, 95])
    report.text(
        f"Processor time per spectrum for the whole library: median {low:.0f} ms, 95th percentile {high:.0f} ms."
    )
    if chosen.wrong:
        for result in made:
            if best_of(result, library) != result.kind:
                print(f"{result.path}: {result.kind}, found {best_of(result, library)}")


def add_velocities(report: Results, shifted: Sequence[tuple[float, float | None]], against: Sequence[float]) -> None:
    errors = np.array([difference for difference, error in shifted if error is not None])
    stated = np.array([error for _, error in shifted if error is not None])
    low, high = np.percentile(np.abs(errors), [68, 95])
    lost = sum(error is None for _, error in shifted)
    report.text(
        f"Shifted by {', '.join(f'{shift:+.0f}' for shift in SHIFTS)} km/s: of {len(shifted)} spectra, {lost} without "
        f"a minimum; the others found the shift with a median error of {np.median(errors):+.1f} km/s, 68 % within "
        f"{low:.1f} and 95 % within {high:.1f} km/s. 68 % were within {np.percentile(np.abs(errors) / stated, 68):.2f} "
        "of their stated error."
    )
    if against:
        difference = np.array(against)
        middle = float(np.median(difference))
        spread = 1.4826 * float(np.median(np.abs(difference - middle)))
        report.text(
            f"Against the redshift of the survey's own pipeline, {difference.size} stars with S/N of 10 or more: "
            f"median {middle:+.0f} km/s, scatter {spread:.0f} km/s (1.48 times the median absolute deviation). This "
            "includes the zero points of the templates and the pipeline's errors."
        )


def add_line_velocities(report: Results, spectra: Sequence[tuple[RealSpectrum, str]]) -> None:
    """The mean velocity of the line table in stars of libraries that are at rest, where it should be 0."""
    tasks = load()
    tables = [
        line_table(real.spectrum, tasks[kind.lower()])
        for real, kind in spectra
        if real.source in ("miles", "stelib") and kind in ("O", "B", "A")
    ]
    found = [table.velocity for table in tables if table.velocity is not None and table.velocity.lines > 1]
    agreeing = np.array([velocity.mean.value for velocity in found if velocity.agree])
    if agreeing.size:
        report.text(
            f"Line table, O, B and A stars of MILES and STELIB (at rest): of {len(tables)}, {agreeing.size} with lines "
            f"that agree on a velocity: median {np.median(agreeing):+.0f} km/s, 68 % within "
            f"{np.percentile(np.abs(agreeing), 68):.0f} km/s of 0; {len(found) - agreeing.size} with lines that do not."
        )


def add_nearest(report: Results, spectra: Sequence[tuple[RealSpectrum, str]]) -> None:
    """The class of the nearest spectrum of another object of the same half, where the class has another object."""
    known = [(real.object, kind, shape_vector(real.spectrum)) for real, kind in spectra]
    usable = [(name, kind, vector) for name, kind, vector in known if vector is not None]
    vectors = np.stack([vector for _, _, vector in usable])
    pairs = []
    for name, kind, vector in usable:
        apart = distances(vector, vectors)
        apart[[other == name for other, _, _ in usable]] = np.inf
        if any(other != name and of == kind for other, of, _ in usable):
            pairs.append((usable[int(np.argmin(apart))][1], kind))
    report.text(
        f"Nearest spectrum of another object: of {len(pairs)}, {sum(best == kind for best, kind in pairs)} of the same "
        f"class and {sum(agrees(*pair) for pair in pairs)} of it or a bordering one."
    )


if __name__ == "__main__":
    main()
