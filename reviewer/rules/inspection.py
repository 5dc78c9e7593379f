"""A person's own inspection of a spectrum (redshift, quality, issues, class), and the merged result of several people.

The scales and the merging rules are those of DESI's visual inspection (``VI_merge_functions_v1`` of the repository
DESI_SV; Alexander et al. 2023, Lan et al. 2023). Pure functions and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agent.errors import Refusal
from agent.language import deferred, tr

SpectralType = Literal["STAR", "GALAXY", "QSO"]
SPECTRAL_TYPES: tuple[SpectralType, ...] = get_args(SpectralType)

QUALITIES: dict[int, str] = {
    4: deferred("two or more secure features"),
    3: deferred("one secure feature and the continuum, or many weak features"),
    2: deferred("one strong feature, but it is not clear which line it is"),
    1: deferred("there is signal, but no feature can be identified"),
    0: deferred("no signal"),
}
"""Quality of the redshift and class. In tables -1 is "not inspected"."""

ISSUES: dict[str, str] = {
    "R": deferred("bad redshift of the pipeline"),
    "C": deferred("bad class of the pipeline"),
    "S": deferred("bad spectrum"),
}

SAME_REDSHIFT = 0.0033
"""Largest (z_max - z_min) / (1 + z_min) at which redshifts are averaged: about 1,000 km/s."""
SECURE = 2.5
"""Mean quality from which a redshift is called secure."""
LARGEST_REDSHIFT = 20.0
LONGEST_COMMENT = 2000


class InspectionError(Refusal, ValueError):
    """An inspection with a value that is not on its scale."""


@dataclass(frozen=True)
class Inspection:
    """What one person found in a spectrum.

    :param z: redshift, in the medium and frame of reference (heliocentric or not) of the spectrum; None: the person
        gave none
    :param quality: a key of ``QUALITIES``, or None
    :param issues: letters of ``ISSUES``, in that order, e.g. ``RC``
    :param spectype: the class, or ""
    :raises InspectionError: a value is not on its scale
    """

    person: str
    z: float | None = None
    quality: int | None = None
    issues: str = ""
    spectype: SpectralType | Literal[""] = ""
    comment: str = ""

    def __post_init__(self) -> None:
        if self.z is not None and not -1 < self.z <= LARGEST_REDSHIFT:
            raise InspectionError(
                tr(
                    "z: found {z}, expected a number above -1, {largest:.0f} at most",
                    z=self.z,
                    largest=LARGEST_REDSHIFT,
                )
            )
        if self.quality is not None and self.quality not in QUALITIES:
            raise InspectionError(tr("quality: found {quality}, expected 4, 3, 2, 1 or 0", quality=self.quality))
        if self.issues != "".join(letter for letter in ISSUES if letter in self.issues):
            raise InspectionError(
                tr(
                    "issues: found {found:.20}, expected letters of {known}, in order",
                    found=repr(self.issues),
                    known="".join(ISSUES),
                )
            )
        if self.spectype and self.spectype not in SPECTRAL_TYPES:
            raise InspectionError(
                tr(
                    "class: found {found:.20}, expected {known}",
                    found=repr(self.spectype),
                    known=", ".join(SPECTRAL_TYPES),
                )
            )
        if len(self.comment) > LONGEST_COMMENT:
            raise InspectionError(
                tr("comment: found {n} characters, expected {most} at most", n=len(self.comment), most=LONGEST_COMMENT)
            )

    @property
    def empty(self) -> bool:
        """Whether nothing is given."""
        return self.z is None and self.quality is None and not (self.issues or self.spectype or self.comment)


@dataclass(frozen=True)
class Merged:
    """The inspections of one spectrum as one result. None and "": undefined, because people differ or gave nothing.

    :param z: mean redshift
    :param quality: mean quality; None if people differ by more than 1 (DESI's tables have 999 there)
    :param spectype: the class on which all agree
    :param issues: every letter that a person gave
    :param comments: ``AB: text; CD: text``
    :param conflict: what a third person has to decide: "quality", "z", "class"; empty if nothing
    """

    people: tuple[str, ...]
    z: float | None
    quality: float | None
    spectype: str
    issues: str
    comments: str
    conflict: tuple[str, ...]

    @property
    def secure(self) -> bool:
        return self.quality is not None and self.quality >= SECURE


def merge(inspections: Sequence[Inspection], pipeline_z: float | None = None, pipeline_class: str = "") -> Merged:
    """Merge the inspections of one spectrum, one per person.

    A person who gave no redshift or no class accepts the pipeline's, as in DESI. Redshifts are averaged if
    ``(z_max - z_min) / (1 + z_min)`` is below ``SAME_REDSHIFT``, qualities if they differ by 1 at most. A conflict
    needs two people: their qualities differ by 2 or more, their redshifts are not the same, or their classes differ.

    :param pipeline_class: the survey's class, e.g. ``STAR M3``; its first word counts if it is a spectral type
    """
    ordered = sorted(inspections, key=lambda inspection: inspection.person)
    first = pipeline_class.split()[0].upper() if pipeline_class.split() else ""
    accepted = first if first in SPECTRAL_TYPES else ""
    redshifts = [z for i in ordered if (z := i.z if i.z is not None else pipeline_z) is not None]
    qualities = [i.quality for i in ordered if i.quality is not None]
    types = {spectype for i in ordered if (spectype := i.spectype or accepted)}
    same_z = bool(redshifts) and (max(redshifts) - min(redshifts)) / (1 + min(redshifts)) < SAME_REDSHIFT
    spread = max(qualities) - min(qualities) if qualities else 0
    conflict = tuple(
        what
        for what, differs in (
            ("quality", spread >= 2),
            ("z", bool(redshifts) and not same_z),
            ("class", len(types) > 1),
        )
        if differs and len(ordered) > 1
    )
    return Merged(
        people=tuple(i.person for i in ordered),
        z=sum(redshifts) / len(redshifts) if same_z else None,
        quality=sum(qualities) / len(qualities) if qualities and spread <= 1 else None,
        spectype=types.pop() if len(types) == 1 else "",
        issues="".join(letter for letter in ISSUES if any(letter in i.issues for i in ordered)),
        comments="; ".join(f"{i.person}: {i.comment}" for i in ordered if i.comment),
        conflict=conflict,
    )


def scales_of_surveys(quality: int | None, spectype: str) -> dict[str, int]:
    """Return a quality on the scales of other surveys, by the name of the column.

    - ``QOP`` (AAO, Marz): 4 to 1 as here, 6 for a secure star; no signal is 1, not inspected 0.
    - ``ZQUALITY`` (DEEP2, Newman et al. 2013): 4 to 1 as here, -1 for a secure star, -2 for no signal. A spectrum
      that was not inspected has 0.
    - ``Z_CONF_PERSON`` (SDSS, file ``spInspect``): 3 and 4 are high confidence, 1 and 2 low, 0 none or not inspected.
    - ``CLASS_PERSON`` (the same file): 1 star, 3 QSO, 4 galaxy, 0 unknown.
    """
    star = spectype == "STAR" and quality is not None and quality >= 3
    known = quality or 0
    return {
        "QOP": 0 if quality is None else 6 if star else max(quality, 1),
        "ZQUALITY": 0 if quality is None else -1 if star else known if known else -2,
        "Z_CONF_PERSON": known,
        "CLASS_PERSON": {"STAR": 1, "QSO": 3, "GALAXY": 4}.get(spectype, 0),
    }
